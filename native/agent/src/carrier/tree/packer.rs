//! Writes the archive of a tree, folder by folder from its root down, in the order of the file system.
//! Nothing else uses the disk meanwhile. Sockets are left out, since they have no listener.

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fstat, openat, readlinkat, statat,
};
use rustix::io::Errno;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::links::Links;
use super::room::Room;
use super::{MOST_LEVELS, xattrs};
use crate::carrier::faults::{failed, failed_content, shown, too_many_attributes};
use crate::carrier::tar::entry::{Attributes, Entry, Kind};
use crate::carrier::tar::holes::{Part, parts_of};
use crate::carrier::tar::writer::Writer;
use crate::init::workers::Cancelled;
use crate::wire::fault::{Code, Fault};

const CHUNK_BYTES: usize = 256 << 10;
const LOOK: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
const FOLDER: OFlags = LOOK.union(OFlags::DIRECTORY);
const FILE: OFlags = LOOK.union(OFlags::NONBLOCK);

/// @param leave_out Names in the root that are not part of the archive; a slash at the end means the contents
/// of that folder.
pub fn pack(
    root: &Path,
    leave_out: &[String],
    out: impl Write,
    cancelled: &Cancelled,
) -> Result<(), Fault> {
    let folder = openat(CWD, root, FOLDER, Mode::empty());
    let folder = folder.map_err(|errno| failed(errno, b""))?;
    let room = Room::of(&folder).map_err(|errno| failed(errno, b""))?;
    pack_within(room, folder.into(), leave_out, out, cancelled)
}

pub(super) fn pack_within(
    room: Room,
    root: File,
    leave_out: &[String],
    out: impl Write,
    cancelled: &Cancelled,
) -> Result<(), Fault> {
    let mut packer = Packer {
        writer: Writer::new(out),
        path: Vec::new(),
        levels: Vec::new(),
        links: Links::new(),
        room,
        buffer: vec![0; CHUNK_BYTES],
    };
    packer.enter(root)?;
    while let Some(level) = packer.levels.last_mut() {
        cancelled.check()?;
        let Some(found) = level.folder.read() else {
            packer.leave();
            continue;
        };
        let found = found.map_err(|errno| packer.fault(errno))?;
        let name = found.file_name().to_bytes();
        let is_left_out = match packer.levels.len() {
            1 => leave_out.iter().any(|other| other.as_bytes() == name),
            2 => leave_out
                .iter()
                .any(|other| other.as_bytes().strip_suffix(b"/") == Some(&packer.path)),
            _ => false,
        };
        if !matches!(name, b"." | b"..") && !is_left_out {
            packer.add(name)?;
        }
    }
    packer.writer.finish()
}

struct Packer<W> {
    writer: Writer<W>,
    /// Path of the entry that is being added.
    path: Vec<u8>,
    /// Folders that are open, from the root down.
    levels: Vec<Level>,
    links: Links,
    room: Room,
    buffer: Vec<u8>,
}

struct Level {
    folder: Dir,
    /// Length of its path.
    path_bytes: usize,
}

impl<W: Write> Packer<W> {
    fn enter(&mut self, folder: File) -> Result<(), Fault> {
        if self.levels.len() > MOST_LEVELS {
            let detail = format!(
                "The disk has more than {MOST_LEVELS} levels of folders, as at '{}'.",
                shown(&self.path)
            );
            return Err(Fault::new(Code::FailedPrecondition, detail));
        }
        let stat = fstat(&folder).map_err(|errno| self.fault(errno))?;
        self.entry(Kind::Folder, &stat, Some(&folder))?;
        let path_bytes = self.path.len();
        let folder = Dir::new(folder).map_err(|errno| self.fault(errno))?;
        self.levels.push(Level { folder, path_bytes });
        Ok(())
    }

    fn leave(&mut self) {
        self.levels.pop();
        self.path
            .truncate(self.levels.last().map_or(0, |level| level.path_bytes));
    }

    fn add(&mut self, name: &[u8]) -> Result<(), Fault> {
        let above = self.path.len();
        if above > 0 {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(name);
        let levels = self.levels.len();
        self.add_named(name)?;
        if self.levels.len() == levels {
            self.path.truncate(above);
        }
        Ok(())
    }

    fn add_named(&mut self, name: &[u8]) -> Result<(), Fault> {
        let parent = self.parent()?;
        let stat = statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW);
        let stat = stat.map_err(|errno| self.fault(errno))?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind != FileType::Directory
            && kind != FileType::Socket
            && let Some(first) = self.links.first_name(&stat, &self.path)?
        {
            return self.entry::<File>(Kind::Link(first), &stat, None);
        }
        match kind {
            FileType::Directory => {
                let folder = openat(&parent, name, FOLDER, Mode::empty());
                let folder = folder.map_err(|errno| self.fault(errno))?;
                self.enter(folder.into())
            }
            FileType::RegularFile => {
                let file = openat(&parent, name, FILE, Mode::empty());
                self.file(&file.map_err(|errno| self.fault(errno))?.into())
            }
            FileType::Symlink => {
                let target = readlinkat(&parent, name, Vec::new());
                let target = target.map_err(|errno| self.fault(errno))?;
                self.entry::<File>(Kind::Symlink(target.into_bytes()), &stat, None)
            }
            FileType::Fifo => self.entry::<File>(Kind::Fifo, &stat, None),
            FileType::CharacterDevice if stat.st_rdev == 0 => {
                self.entry::<File>(Kind::Whiteout, &stat, None)
            }
            // No sandbox can make any other device.
            _ => Ok(()),
        }
    }

    fn file(&mut self, file: &File) -> Result<(), Fault> {
        let stat = fstat(file).map_err(|errno| self.fault(errno))?;
        let size = stat.st_size as u64;
        let (parts, data_bytes) = parts_of(file, size).map_err(|errno| self.fault(errno))?;
        self.room.take(&stat, data_bytes)?;
        let kind = Kind::File {
            size,
            parts: parts.clone(),
        };
        self.entry(kind, &stat, Some(file))?;
        for Part { offset, length } in parts {
            let end = offset + length;
            let mut at = offset;
            while at < end {
                let most = CHUNK_BYTES.min((end - at) as usize);
                file.read_exact_at(&mut self.buffer[..most], at)
                    .map_err(|error| failed_content(&error, &self.path))?;
                self.writer.content(&self.buffer[..most])?;
                at += most as u64;
            }
        }
        Ok(())
    }

    fn entry<F: AsFd>(&mut self, kind: Kind, stat: &Stat, file: Option<&F>) -> Result<(), Fault> {
        let xattrs = file.map_or_else(|| Ok(Vec::new()), xattrs::read);
        let xattrs = xattrs.map_err(|errno| match errno {
            Errno::TOOBIG => too_many_attributes(&self.path),
            other => self.fault(other),
        })?;
        self.writer.entry(&Entry {
            path: self.path.clone(),
            kind,
            attributes: Attributes::of(stat, xattrs),
        })
    }

    fn parent(&self) -> Result<std::os::fd::OwnedFd, Fault> {
        let folder = self.levels.last().map(|level| level.folder.fd());
        let folder = folder.unwrap_or(Err(Errno::BADF));
        let folder = folder.map_err(|errno| self.fault(errno))?;
        let owned = folder.try_clone_to_owned();
        owned.map_err(|error| failed_content(&error, &self.path))
    }

    fn fault(&self, errno: Errno) -> Fault {
        failed(errno, &self.path)
    }
}
