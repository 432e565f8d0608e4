//! The folders that one stream watches, and what the kernel reports of them. Its work is done in pieces, by workers in the
//! name of the caller, so that the kernel decides what the caller may watch.
//!
//! A new folder is watched before it is read: what was made in it before is found, and what is made later is reported. What
//! is both is reported once.

use rustix::fs::{Dir, fstat};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use super::changes::{Change, Changes};
use super::folders::Folders;
use super::kernel::{Kernel, OF_TOP, WATCHED};
use super::seats::Share;
use crate::files::folder::{is_made_up, open_top};
use crate::files::listing::list::not_a_folder;
use crate::files::location::Path;
use crate::wire::fault::{Code, Fault};

/// A longer path could be used in no call.
const PATH_BYTES: usize = 4_095;

pub struct Watcher {
    pub(super) path: Path,
    recursive: bool,
    pub(super) kernel: Kernel,
    /// Device and inode of the top. It is not held open, since the kernel would then not report its end.
    pub(super) identity: (u64, u64),
    pub(super) folders: Folders,
    pub(super) share: Share,
    pub(super) changes: Changes,
    pub(super) pending: Vec<Found>,
    pub(super) reading: Option<Reading>,
    /// The kernel had no more events.
    pub(super) drained: bool,
    /// A look found more than is remembered, or a folder whose events are yet to come.
    pub(super) missed: bool,
}

/// A folder that may not be watched yet.
pub(super) struct Found {
    pub parent: i32,
    pub name: Vec<u8>,
    /// What is in it is reported.
    pub is_new: bool,
}

pub(super) struct Reading {
    pub folder: i32,
    pub entries: Dir,
    pub is_new: bool,
}

pub struct Piece {
    pub changes: Vec<Change>,
    pub next: Next,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Folders are to be watched.
    Walk,
    /// The kernel has more events.
    Take,
    Wait,
    /// The kernel has dropped events.
    Overflowed,
    /// The path names the top no more.
    Gone,
}

impl Watcher {
    pub fn begin(path: Path, recursive: bool, all: Arc<AtomicUsize>) -> Result<Self, Fault> {
        let top = open_top(&path.bytes).map_err(|errno| not_a_folder(&path, errno))?;
        if is_made_up(&top) {
            let detail = format!("The kernel reports no changes of '{}'.", path.text);
            return Err(Fault::new(Code::FailedPrecondition, detail)
                .parameter(path.parameter)
                .hint("Watch a folder of a disk or of memory."));
        }
        let mut share = Share::new(all);
        share.take(&path.text)?;
        let kernel = Kernel::begin(&path)?;
        let watch = kernel.watch(&top, WATCHED | OF_TOP, &path)?;
        let stat = fstat(&top).map_err(|errno| path.fault(errno))?;
        let prefix = path.shown_prefix();
        let path_bytes = PATH_BYTES.saturating_sub(prefix.len());
        let mut watcher = Self {
            path,
            recursive,
            kernel,
            identity: (stat.st_dev, stat.st_ino),
            folders: Folders::new(watch, path_bytes),
            share,
            changes: Changes::new(prefix),
            pending: Vec::new(),
            reading: None,
            drained: true,
            missed: false,
        };
        if recursive {
            watcher.look(watch, top, false)?;
        }
        Ok(watcher)
    }

    /// Leaves its share of the folders to others.
    pub fn free(&mut self) {
        self.share.free_all();
    }

    /// Becomes readable with the next event.
    pub fn events(&self) -> Result<OwnedFd, Fault> {
        self.kernel.readable()
    }

    pub fn next(&self) -> Next {
        if self.reading.is_some() || !self.pending.is_empty() {
            return Next::Walk;
        }
        match self.drained {
            true => Next::Wait,
            false => Next::Take,
        }
    }

    pub(super) fn piece(&mut self, next: Next) -> Piece {
        Piece {
            changes: self.changes.take(),
            next,
        }
    }

    pub(super) fn look(&mut self, folder: i32, open: OwnedFd, is_new: bool) -> Result<(), Fault> {
        self.reading = Some(Reading {
            folder,
            entries: Dir::new(open).map_err(|errno| self.path.fault(errno))?,
            is_new,
        });
        Ok(())
    }

    pub(super) fn found(&mut self, parent: i32, name: &[u8], is_new: bool) {
        if self.recursive {
            self.pending.push(Found {
                parent,
                name: name.to_owned(),
                is_new,
            });
        }
    }
}
