//! Makes a tree from an archive. Each entry lies in a folder that this archive has made and whose descriptor
//! is still open, since the packer writes them in that order. So no path is ever resolved through a link of
//! the archive.

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, ftruncate, linkat, mkdirat, mknodat, openat,
    symlinkat, syncfs,
};
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;

use super::finish::{finish, finish_unopened};
use super::level::Level;
use super::{MOST_LEVELS, content};
use crate::carrier::faults::{failed, failed_content};
use crate::carrier::tar::damage::damaged;
use crate::carrier::tar::entry::{Entry, Kind};
use crate::carrier::tar::holes::Part;
use crate::carrier::tar::reader::{Reader, is_plain};
use crate::init::workers::Cancelled;
use crate::wire::fault::{Code, Fault};

const CHUNK_BYTES: usize = 256 << 10;
const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
const NEW_FILE: OFlags = OFlags::WRONLY
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);
const PRIVATE_FOLDER: Mode = PRIVATE.union(Mode::XUSR);

/// Returns the number of entries once they are on the disk for good.
/// @param root A folder that is empty but for names in `leave_out`.
pub fn unpack(
    root: &Path,
    leave_out: &[String],
    source: impl Read,
    cancelled: &Cancelled,
) -> Result<u64, Fault> {
    let folder = openat(CWD, root, FOLDER, Mode::empty()).map_err(|errno| failed(errno, b""))?;
    require_empty(&folder, leave_out)?;
    let mut reader = Reader::new(source);
    let mut unpacker = Unpacker {
        levels: Vec::new(),
        buffer: vec![0; CHUNK_BYTES],
    };
    let first = reader.next()?.filter(|entry| entry.path.is_empty());
    let root_entry = first.ok_or_else(|| damaged("it does not begin with the root"))?;
    let root = Level::new(b"", folder.try_clone()?, &root_entry.attributes)?;
    unpacker.levels.push(root);
    let mut entries = 1;
    while let Some(entry) = reader.next()? {
        cancelled.check()?;
        unpacker.add(&entry, &mut reader)?;
        entries += 1;
    }
    while !unpacker.levels.is_empty() {
        unpacker.leave()?;
    }
    syncfs(&folder).map_err(|errno| failed(errno, b""))?;
    Ok(entries)
}

struct Unpacker {
    /// Folders that may get more entries, from the root down.
    levels: Vec<Level>,
    buffer: Vec<u8>,
}

impl Unpacker {
    fn add<R: Read>(&mut self, entry: &Entry, reader: &mut Reader<R>) -> Result<(), Fault> {
        let names: Vec<&[u8]> = entry.path.split(|byte| *byte == b'/').collect();
        let Some((name, above)) = names.split_last() else {
            return Err(damaged("a path is none"));
        };
        self.go_to(above)?;
        let failed = |errno| failed(errno, &entry.path);
        let parent = self.parent()?;
        let attributes = &entry.attributes;
        match &entry.kind {
            Kind::Folder => return self.enter(name, entry),
            Kind::File { size, parts } => {
                let file = openat(&parent, *name, NEW_FILE, PRIVATE).map_err(failed)?;
                let file = File::from(file);
                self.fill(&file, &entry.path, *size, parts, reader)?;
                return finish(&file, attributes, &entry.path);
            }
            Kind::Link(target) => return self.link(target, &parent, name),
            Kind::Symlink(target) => symlinkat(&target[..], &parent, *name).map_err(failed)?,
            Kind::Fifo => {
                mknodat(&parent, *name, FileType::Fifo, PRIVATE, 0).map_err(failed)?;
            }
            Kind::Whiteout => {
                let kind = FileType::CharacterDevice;
                mknodat(&parent, *name, kind, PRIVATE, 0).map_err(failed)?;
            }
        }
        finish_unopened(&parent, name, entry).map_err(failed)
    }

    /// Leaves folders until the innermost open one has these names.
    fn go_to(&mut self, names: &[&[u8]]) -> Result<(), Fault> {
        while self.levels.len() > names.len() + 1 {
            self.leave()?;
        }
        let open = self.levels.iter().skip(1).map(|level| &level.name[..]);
        if open.eq(names.iter().copied()) {
            return Ok(());
        }
        Err(damaged("an entry lies in a folder that is not there"))
    }

    fn enter(&mut self, name: &[u8], entry: &Entry) -> Result<(), Fault> {
        if self.levels.len() > MOST_LEVELS {
            return Err(damaged("it has too many levels of folders"));
        }
        let failed = |errno| failed(errno, &entry.path);
        let parent = self.parent()?;
        mkdirat(&parent, name, PRIVATE_FOLDER).map_err(failed)?;
        let folder = openat(&parent, name, FOLDER, Mode::empty()).map_err(failed)?;
        self.levels
            .push(Level::new(name, folder, &entry.attributes)?);
        Ok(())
    }

    fn leave(&mut self) -> Result<(), Fault> {
        match self.levels.pop() {
            Some(level) => level.leave(),
            None => Ok(()),
        }
    }

    fn fill<R: Read>(
        &mut self,
        file: &File,
        path: &[u8],
        size: u64,
        parts: &[Part],
        reader: &mut Reader<R>,
    ) -> Result<(), Fault> {
        ftruncate(file, size).map_err(|errno| failed(errno, path))?;
        for Part { offset, length } in parts {
            let end = offset + length;
            let mut at = *offset;
            while at < end {
                let most = CHUNK_BYTES.min(usize::try_from(end - at).unwrap_or(CHUNK_BYTES));
                reader.content(&mut self.buffer[..most])?;
                content::write(file, &self.buffer[..most], at)
                    .map_err(|error| failed_content(&error, path))?;
                at += most as u64;
            }
        }
        Ok(())
    }

    /// Goes down to the target folder by folder: none of the names on the way may be a link.
    fn link(&self, target: &[u8], parent: &OwnedFd, name: &[u8]) -> Result<(), Fault> {
        if !is_plain(target) {
            return Err(damaged("a link leads elsewhere"));
        }
        let failed = |errno| failed(errno, target);
        let mut names = target.split(|byte| *byte == b'/').peekable();
        let root = self.levels.first().ok_or_else(|| damaged("no root"))?;
        let mut folder = root.folder.try_clone()?;
        while let Some(next) = names.next() {
            if names.peek().is_none() {
                let plain = AtFlags::empty();
                return linkat(&folder, next, parent, name, plain).map_err(failed);
            }
            folder = openat(&folder, next, FOLDER, Mode::empty()).map_err(failed)?;
        }
        Ok(())
    }

    fn parent(&self) -> Result<OwnedFd, Fault> {
        let level = self.levels.last().ok_or_else(|| damaged("no root"))?;
        Ok(level.folder.try_clone()?)
    }
}

/// Fails on a folder with entries: those of an earlier attempt would mix with the archive.
fn require_empty(folder: &OwnedFd, leave_out: &[String]) -> Result<(), Fault> {
    let failed = |errno| failed(errno, b"");
    for found in Dir::read_from(folder).map_err(failed)? {
        let found = found.map_err(failed)?;
        let name = found.file_name().to_bytes();
        let known = leave_out.iter().any(|other| other.as_bytes() == name);
        if !matches!(name, b"." | b"..") && !known {
            return Err(Fault::new(
                Code::FailedPrecondition,
                "The disk is not empty.",
            ));
        }
    }
    Ok(())
}
