//! Folders that are being read.

use rustix::fs::{AtFlags, Dir, Mode, OFlags};
use rustix::io::Errno;
use std::os::fd::OwnedFd;

use super::attributes::Attributes;
use super::failure::{Failure, Status};
use super::long_name::LongNames;
use super::replies::Name;

/// Entries of one answer; they fit a packet even with the longest names.
const ENTRIES: usize = 128;

pub struct Folder {
    entries: Dir,
    folder: OwnedFd,
}

impl Folder {
    pub fn open(path: &[u8]) -> Result<Self, Failure> {
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(path, how, Mode::empty())?;
        Ok(Self {
            entries: Dir::read_from(&folder)?,
            folder,
        })
    }

    /// Returns the next entries, without those that have vanished meanwhile.
    pub fn next(&mut self, long_names: &mut LongNames) -> Result<Vec<Name>, Failure> {
        let mut names = Vec::new();
        while names.len() < ENTRIES
            && let Some(entry) = self.entries.read()
        {
            let entry = entry?;
            let name = entry.file_name();
            match rustix::fs::statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => names.push(Name {
                    bytes: name.to_bytes().to_vec(),
                    long: long_names.of(name.to_bytes(), &stat),
                    attributes: Attributes::of(&stat),
                }),
                Err(Errno::NOENT) => {}
                // The entry exists all the same.
                Err(_) => names.push(Name {
                    bytes: name.to_bytes().to_vec(),
                    long: name.to_bytes().to_vec(),
                    attributes: Attributes::default(),
                }),
            }
        }
        if names.is_empty() {
            return Err(Failure::new(Status::Eof, "End of folder"));
        }
        Ok(names)
    }
}
