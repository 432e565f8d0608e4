//! Regular files below a folder, met by several workers at once. What is left to do is in one list that they
//! share: folders to be read, and names to be opened. Links are not followed, and what is not a regular file
//! is passed over, as is what vanishes or cannot be read.

use rustix::fs::{
    CWD, FileType, Mode, OFlags, RawDir, ResolveFlags, fstat, fstatfs, openat, openat2,
};
use rustix::io::Errno;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::budget::Budget;
use crate::fault::{Code, Fault};
use crate::files::location::{Path, file_type};
use crate::workers::Turn;

const MAX_PATH_BYTES: usize = 4_095;
/// Names that are opened in one go.
const BATCH_BYTES: usize = 1_024;
/// Further batches are worked on by who reads the folder.
const MAX_BATCHES: usize = 64;
/// Of folders yet to be read, their paths.
const MAX_PENDING_BYTES: usize = 32 << 20;
const FOLDER_BUFFER_BYTES: usize = 32 << 10;
/// How long one who waits for work may miss that the host has gone away.
const LOOK_UP: Duration = Duration::from_millis(50);

pub const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

/// File systems that the kernel makes up: proc, sysfs, devpts, cgroups, debugfs, tracefs, securityfs, bpf, mqueue.
const MADE_UP: [i64; 10] = [
    0x9fa0,
    0x6265_6572,
    0x1cd1,
    0x0027_e0eb,
    0x6367_7270,
    0x6462_6720,
    0x7472_6163,
    0x7363_6673,
    0xcafe_4a11,
    0x1980_0202,
];

pub struct Walk {
    top: OwnedFd,
    /// Where a walk begins in a made-up file system, it goes on in them.
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
    /// Its path below the top, and the device of the folder that holds it.
    Folder(Vec<u8>, u64),
    Files(Batch),
}

/// Names in one folder, each with a NUL behind it.
struct Batch {
    folder: Arc<OwnedFd>,
    below: Arc<[u8]>,
    names: Vec<u8>,
}

/// What is done with what is met.
pub trait Visitor {
    /// Whether a file is to be opened at all, by its path below the top and its name.
    fn wants(&self, below: &[u8], name: &[u8]) -> bool;
    fn file(&mut self, folder: &OwnedFd, below: &[u8], name: &CStr) -> Result<(), Fault>;
}

impl Walk {
    pub fn new(path: &Path, top: OwnedFd) -> Result<Self, Fault> {
        let stat = fstat(&top).map_err(|errno| path.fault(errno))?;
        Ok(Self {
            everywhere: is_made_up(&top),
            top,
            pending: Mutex::new(Pending {
                tasks: vec![Task::Folder(Vec::new(), stat.st_dev)],
                ..Pending::default()
            }),
            changed: Condvar::new(),
        })
    }

    /// One worker's part. It returns when nothing is left for anyone, or when its turn is wanted by others.
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
                Task::Folder(below, device) => {
                    self.folder(&below, device, &mut buffer, budget, visitor)
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

    /// None when all is done or given up.
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
        below: &[u8],
        parent_device: u64,
        buffer: &mut Vec<u8>,
        budget: &Budget,
        visitor: &mut impl Visitor,
    ) -> Result<(), Fault> {
        let Ok(folder) = open_below(&self.top, below) else {
            return Ok(());
        };
        let Ok(stat) = fstat(&folder) else {
            return Ok(());
        };
        if stat.st_dev != parent_device && !self.everywhere && is_made_up(&folder) {
            return Ok(());
        }
        let folder = Arc::new(folder);
        let below: Arc<[u8]> = below.into();
        let mut names = Vec::new();
        let space: &mut [MaybeUninit<u8>] = buffer.spare_capacity_mut();
        let mut entries = RawDir::new(&*folder, space);
        while let Some(Ok(entry)) = entries.next() {
            let name = entry.file_name();
            let bytes = name.to_bytes();
            if matches!(bytes, b"." | b"..") || below.len() + bytes.len() >= MAX_PATH_BYTES {
                continue;
            }
            match kind(&folder, name, entry.file_type()) {
                FileType::Directory => self.add_folder(join(&below, bytes), stat.st_dev)?,
                FileType::RegularFile if visitor.wants(&below, bytes) => {
                    names.extend_from_slice(name.to_bytes_with_nul());
                }
                _ => {}
            }
            if names.len() >= BATCH_BYTES {
                self.add_files(&folder, &below, std::mem::take(&mut names), budget, visitor)?;
            }
        }
        let (folder, names) = (Arc::clone(&folder), names);
        files(
            &Batch {
                folder,
                below,
                names,
            },
            budget,
            visitor,
        )
    }

    fn add_folder(&self, below: Vec<u8>, device: u64) -> Result<(), Fault> {
        let mut pending = self.lock();
        pending.folder_bytes += below.len();
        if pending.folder_bytes > MAX_PENDING_BYTES {
            return Err(Fault::new(
                Code::ResourceExhausted,
                "There are too many folders to search at once.",
            )
            .hint("Search a folder further down."));
        }
        pending.tasks.push(Task::Folder(below, device));
        drop(pending);
        self.changed.notify_one();
        Ok(())
    }

    fn add_files(
        &self,
        folder: &Arc<OwnedFd>,
        below: &Arc<[u8]>,
        names: Vec<u8>,
        budget: &Budget,
        visitor: &mut impl Visitor,
    ) -> Result<(), Fault> {
        let batch = Batch {
            folder: Arc::clone(folder),
            below: Arc::clone(below),
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
        visitor.file(&batch.folder, &batch.below, name)?;
    }
    Ok(())
}

/// The type that the folder tells, or that a look at the entry tells where the folder does not.
fn kind(folder: &OwnedFd, name: &CStr, known: FileType) -> FileType {
    if known != FileType::Unknown {
        return known;
    }
    rustix::fs::statat(folder, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)
        .map_or(FileType::Unknown, |stat| file_type(&stat))
}

fn is_made_up(folder: &OwnedFd) -> bool {
    fstatfs(folder).is_ok_and(|system| MADE_UP.contains(&(system.f_type & 0xffff_ffff)))
}

/// What a caller names may be a link.
pub fn open_top(path: &[u8]) -> rustix::io::Result<OwnedFd> {
    openat(
        CWD,
        path,
        FOLDER.difference(OFlags::NOFOLLOW),
        Mode::empty(),
    )
}

pub fn open_below(top: &OwnedFd, below: &[u8]) -> rustix::io::Result<OwnedFd> {
    let below = if below.is_empty() { b"." } else { below };
    match openat2(top, below, FOLDER, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // Kept from sandboxes by a strict filter, or by an old kernel.
        Err(Errno::NOSYS | Errno::PERM) => openat(top, below, FOLDER, Mode::empty()),
        result => result,
    }
}

pub fn join(below: &[u8], name: &[u8]) -> Vec<u8> {
    if below.is_empty() {
        return name.to_vec();
    }
    [below, b"/", name].concat()
}
