//! Visits the regular files below a folder with several workers at once. They share one list of tasks:
//! folders to be read, and names to be opened. Links are not followed. Files that are not regular, that
//! vanish or that cannot be read are skipped.

use rustix::fs::{FileType, RawDir};
use std::ffi::CStr;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::files::folder::{self, FileSystem, Folder, join, kind};
use crate::init::workers::Turn;
use crate::search::budget::Budget;
use crate::wire::fault::{Code, Fault};

const MAX_PATH_BYTES: usize = 4_095;
/// Names that are opened in one go.
const BATCH_BYTES: usize = 1_024;
/// Most batches in the list. The worker that reads the folder processes further ones itself.
const MAX_BATCHES: usize = 64;
/// Most bytes of paths of folders still to be read.
const MAX_PENDING_BYTES: usize = 32 << 20;
const FOLDER_BUFFER_BYTES: usize = 32 << 10;
/// A worker that waits for work notices after this time that the host has gone away.
const LOOK_UP: Duration = Duration::from_millis(50);

pub struct Walk {
    top: OwnedFd,
    /// True for a walk that begins in a file system of the kernel: it also enters others.
    everywhere: bool,
    pending: Mutex<Pending>,
    changed: Condvar,
}

#[derive(Default)]
struct Pending {
    tasks: Vec<Task>,
    batches: usize,
    folder_bytes: usize,
    /// Workers that may yet add to the tasks.
    busy: usize,
    ended: bool,
}

enum Task {
    /// Its path below the top, and the file system of the folder that holds it.
    Folder(Vec<u8>, Option<FileSystem>),
    Files(Batch),
}

/// Names in one folder, each with a NUL behind it.
struct Batch {
    folder: Arc<Folder>,
    names: Vec<u8>,
}

/// Receives the files of a walk.
pub trait Visitor {
    /// Decides by the path below the top and the name whether a file is opened.
    fn wants(&self, below: &[u8], name: &[u8]) -> bool;
    fn file(&mut self, folder: &Folder, name: &CStr) -> Result<(), Fault>;
}

impl Walk {
    pub fn new(top: OwnedFd) -> Self {
        Self {
            everywhere: folder::is_made_up(&top),
            top,
            pending: Mutex::new(Pending {
                tasks: vec![Task::Folder(Vec::new(), None)],
                ..Pending::default()
            }),
            changed: Condvar::new(),
        }
    }

    /// Runs one worker's part. Returns when no task is left for any worker, or when another job waits for its turn.
    pub fn work(
        &self,
        turn: &Turn,
        budget: &Budget,
        visitor: &mut impl Visitor,
    ) -> Result<(), Fault> {
        let mut buffer = Vec::with_capacity(FOLDER_BUFFER_BYTES);
        while !turn.is_wanted() {
            let Some(task) = self.next(budget) else {
                break;
            };
            let result = match task {
                Task::Folder(below, parent) => {
                    self.folder(below, parent, &mut buffer, budget, visitor)
                }
                Task::Files(batch) => files(&batch, budget, visitor),
            };
            let mut pending = self.lock();
            pending.busy -= 1;
            pending.ended |= result.is_err() || (pending.busy == 0 && pending.tasks.is_empty());
            if pending.ended {
                self.changed.notify_all();
            }
            result?;
        }
        budget.check()
    }

    /// None when the walk has ended or was given up.
    fn next(&self, budget: &Budget) -> Option<Task> {
        let mut pending = self.lock();
        loop {
            if pending.ended || budget.check().is_err() {
                return None;
            }
            if let Some(task) = pending.tasks.pop() {
                pending.busy += 1;
                match &task {
                    Task::Folder(below, _) => pending.folder_bytes -= below.len(),
                    Task::Files(_) => pending.batches -= 1,
                }
                return Some(task);
            }
            pending = match self.changed.wait_timeout(pending, LOOK_UP) {
                Ok((pending, _)) => pending,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn folder(
        &self,
        below: Vec<u8>,
        parent: Option<FileSystem>,
        buffer: &mut Vec<u8>,
        budget: &Budget,
        visitor: &mut impl Visitor,
    ) -> Result<(), Fault> {
        let Ok(folder) = Folder::open(&self.top, below, parent) else {
            return Ok(());
        };
        if folder.system.is_made_up && !self.everywhere {
            return Ok(());
        }
        let folder = Arc::new(folder);
        let mut names = Vec::new();
        let mut entries = RawDir::new(&folder.open, buffer.spare_capacity_mut());
        while let Some(Ok(entry)) = entries.next() {
            let name = entry.file_name();
            let bytes = name.to_bytes();
            if matches!(bytes, b"." | b"..") || folder.below.len() + bytes.len() >= MAX_PATH_BYTES {
                continue;
            }
            match kind(&folder.open, name, entry.file_type()) {
                FileType::Directory => {
                    self.add_folder(join(&folder.below, bytes), folder.system)?;
                }
                FileType::RegularFile if visitor.wants(&folder.below, bytes) => {
                    names.extend_from_slice(name.to_bytes_with_nul());
                }
                _ => {}
            }
            if names.len() >= BATCH_BYTES {
                self.add_files(&folder, std::mem::take(&mut names), budget, visitor)?;
            }
        }
        let folder = Arc::clone(&folder);
        files(&Batch { folder, names }, budget, visitor)
    }

    fn add_folder(&self, below: Vec<u8>, parent: FileSystem) -> Result<(), Fault> {
        let mut pending = self.lock();
        pending.folder_bytes += below.len();
        if pending.folder_bytes > MAX_PENDING_BYTES {
            return Err(Fault::new(
                Code::ResourceExhausted,
                "There are too many folders to search at once.",
            )
            .hint("Search a folder further down."));
        }
        pending.tasks.push(Task::Folder(below, Some(parent)));
        drop(pending);
        self.changed.notify_one();
        Ok(())
    }

    fn add_files(
        &self,
        folder: &Arc<Folder>,
        names: Vec<u8>,
        budget: &Budget,
        visitor: &mut impl Visitor,
    ) -> Result<(), Fault> {
        let batch = Batch {
            folder: Arc::clone(folder),
            names,
        };
        let mut pending = self.lock();
        if pending.batches >= MAX_BATCHES {
            drop(pending);
            return files(&batch, budget, visitor);
        }
        pending.batches += 1;
        pending.tasks.push(Task::Files(batch));
        drop(pending);
        self.changed.notify_one();
        Ok(())
    }
}

fn files(batch: &Batch, budget: &Budget, visitor: &mut impl Visitor) -> Result<(), Fault> {
    let mut rest = &batch.names[..];
    while let Ok(name) = CStr::from_bytes_until_nul(rest) {
        budget.check()?;
        rest = &rest[name.to_bytes_with_nul().len()..];
        visitor.file(&batch.folder, name)?;
    }
    Ok(())
}
