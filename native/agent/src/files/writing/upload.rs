//! Replaces a file's content at once: it writes a new file beside it, which takes its name once the data is
//! on the disk.

use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid, fchmod, fchown, fstat, openat, statat,
};
use rustix::io::Errno;
use serde::Serialize;
use std::ffi::CString;
use std::fs::File;
use std::io::{Seek, Write};

use super::durable;
use super::enclosure::Enclosure;
use super::mkdir::make_parents;
use super::temporary::TemporaryFile;
use crate::files::details::metadata::{self, Metadata};
use crate::files::location::{Location, Path, file_type};
use crate::wire::fault::{Code, Fault};

const NEW_FILE_MODE: u32 = 0o644;

pub struct Target {
    pub path: Path,
    pub create_parents: bool,
    /// None: the existing file's mode, or 0644.
    pub mode: Option<u32>,
    /// True: a power cut after the answer loses nothing.
    pub durable: bool,
    pub metadata: Option<Metadata>,
    /// The file must be new, and lie beneath this folder.
    pub new_beneath: Option<Enclosure>,
}

#[derive(Serialize)]
pub struct Reply {
    bytes_written: u64,
    created: bool,
}

/// New content on its way into a file beside the one that it will replace.
pub struct Upload {
    temporary: TemporaryFile,
    name: CString,
    existing: Option<Stat>,
    mode: Option<u32>,
    metadata: Option<Metadata>,
    durable: bool,
    must_be_new: bool,
    path: Path,
    written: u64,
}

impl Upload {
    pub fn begin(target: &Target) -> Result<Self, Fault> {
        let path = target.path.clone();
        if target.create_parents {
            make_parents(&path, target.new_beneath.as_ref())?;
        }
        if let Some(enclosure) = &target.new_beneath {
            return Self::new_in(path, enclosure, target.mode);
        }
        let (location, existing) = path.locate()?.follow(&path)?;
        if let Some(stat) = &existing {
            require_regular(&path, stat)?;
        }
        let upload = Self::over(path, location, existing)?;
        Ok(Self {
            mode: target.mode,
            metadata: target.metadata.clone(),
            durable: target.durable,
            ..upload
        })
    }

    /// A link of this name counts as existing, wherever it leads.
    fn new_in(path: Path, enclosure: &Enclosure, mode: Option<u32>) -> Result<Self, Fault> {
        let location = path.locate()?;
        enclosure.check(&path, &location.folder)?;
        let there = location
            .stat_if_there()
            .map_err(|errno| path.fault(errno))?;
        if there.is_some() {
            return Err(is_taken(&path));
        }
        Ok(Self {
            mode,
            must_be_new: true,
            ..Self::over(path, location, None)?
        })
    }

    /// @param existing The file that is there now, whose mode and owner are kept.
    pub fn over(path: Path, location: Location, existing: Option<Stat>) -> Result<Self, Fault> {
        let temporary =
            TemporaryFile::create(location.folder).map_err(|errno| path.fault(errno))?;
        Ok(Self {
            temporary,
            name: location.name,
            existing,
            mode: None,
            metadata: None,
            durable: false,
            must_be_new: false,
            path,
            written: 0,
        })
    }

    pub fn end_with(mut self, bytes: &[u8]) -> Result<Reply, Fault> {
        self.append(bytes)?;
        self.finish()
    }

    pub fn append(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.temporary
            .file
            .write_all(bytes)
            .map_err(|error| self.fault(&error))?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// Fails when another program has changed the file since it was examined.
    pub fn finish_unless_changed(self) -> Result<(), Fault> {
        let version = |stat: &Stat| {
            (
                stat.st_dev,
                stat.st_ino,
                stat.st_size,
                stat.st_mtime,
                stat.st_mtime_nsec,
            )
        };
        let now = statat(
            self.temporary.folder(),
            &self.name,
            AtFlags::SYMLINK_NOFOLLOW,
        )
        .ok();
        if now.as_ref().map(version) != self.existing.as_ref().map(version) {
            return Err(Fault::new(
                Code::FailedPrecondition,
                format!("Another program changed '{}' meanwhile.", self.path.text),
            )
            .parameter(self.path.parameter));
        }
        self.finish().map(|_| ())
    }

    fn finish(mut self) -> Result<Reply, Fault> {
        let mut mode = self.mode.unwrap_or(NEW_FILE_MODE);
        if let Some(stat) = &self.existing {
            mode = self.mode.unwrap_or(stat.st_mode & 0o7777);
            // Owners that this sandbox has no number for are lost.
            let _ = fchown(
                &self.temporary.file,
                Some(Uid::from_raw(stat.st_uid)),
                Some(Gid::from_raw(stat.st_gid)),
            );
        }
        fchmod(&self.temporary.file, Mode::from_raw_mode(mode))
            .map_err(|errno| self.path.fault(errno))?;
        if let Some(metadata) = &self.metadata {
            metadata::replace(&self.temporary.file, metadata)
                .map_err(|errno| self.path.fault(errno))?;
        }
        durable::write_out(&self.temporary.file).map_err(|errno| self.path.fault(errno))?;
        let named = if self.must_be_new {
            self.temporary.name_new(&self.name)
        } else {
            self.temporary.rename_to(&self.name)
        };
        match named {
            Err(Errno::EXIST) if self.must_be_new => return Err(is_taken(&self.path)),
            // A file that is a mount of its own (/etc/hosts) can only be written where it is.
            Err(Errno::BUSY) => self.overwrite()?,
            result => {
                result.map_err(|errno| self.path.fault(errno))?;
                if self.durable {
                    durable::commit(&self.temporary.file, self.temporary.folder())
                        .map_err(|errno| self.path.fault(errno))?;
                }
            }
        }
        Ok(Reply {
            bytes_written: self.written,
            created: self.existing.is_none(),
        })
    }

    fn overwrite(&mut self) -> Result<(), Fault> {
        let folder = self.temporary.folder();
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let target = openat(folder, &self.name, flags, Mode::empty())
            .map_err(|errno| self.path.fault(errno))?;
        let stat = fstat(&target).map_err(|errno| self.path.fault(errno))?;
        require_regular(&self.path, &stat)?;
        let mut target = File::from(target);
        let source = &mut self.temporary.file;
        source
            .rewind()
            .and_then(|()| target.set_len(0))
            .and_then(|()| std::io::copy(source, &mut target))
            .and_then(|_| target.sync_data())
            .map_err(|error| self.fault(&error))?;
        Ok(())
    }

    fn fault(&self, error: &std::io::Error) -> Fault {
        match error.raw_os_error() {
            Some(raw) => self.path.fault(Errno::from_raw_os_error(raw)),
            None => Fault::new(Code::Internal, error.to_string()),
        }
    }
}

fn is_taken(path: &Path) -> Fault {
    Fault::new(
        Code::AlreadyExists,
        format!("'{}' exists already.", path.text),
    )
    .parameter(path.parameter)
    .hint("Give another path, or move or delete what is there first.")
}

pub fn require_regular(path: &Path, stat: &Stat) -> Result<(), Fault> {
    match file_type(stat) {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(Fault::invalid(
            path.parameter,
            format!("'{}' is a folder.", path.text),
        )),
        _ => Err(Fault::invalid(
            path.parameter,
            format!("'{}' is not a regular file.", path.text),
        )),
    }
}
