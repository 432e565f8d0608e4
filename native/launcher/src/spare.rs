//! Room to start on a disk that its machine has filled to the last block and inode.
//!
//! Overlayfs makes a few files in its work directory whenever it is mounted. The disk keeps some files outside of
//! the machine's reach that make way for them, and come back as soon as overlayfs has cleaned up.

use rustix::fs::{AtFlags, FallocateFlags, Mode, OFlags, fallocate, openat, unlinkat};
use rustix::io::Errno;
use std::os::fd::OwnedFd;

const FILES: u32 = 8;
const FILE_BYTES: u64 = 8192;

pub struct Spare {
    directory: OwnedFd,
}

impl Spare {
    /// Opens the folder of spare files, which is part of every disk.
    pub fn open(path: &str) -> Result<Spare, Errno> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        rustix::fs::open(path, flags, Mode::empty()).map(|directory| Spare { directory })
    }

    /// Makes missing spare files, as far as there is room. Where a machine leaves no room, they exist already.
    pub fn keep(&self) {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        for name in 0..FILES {
            let made = openat(&self.directory, name.to_string(), flags, Mode::RUSR);
            let filled = made.map(|file| fallocate(&file, FallocateFlags::empty(), 0, FILE_BYTES));
            if matches!(filled, Err(Errno::NOSPC) | Ok(Err(Errno::NOSPC))) {
                return;
            }
        }
    }

    pub fn give(&self) {
        for name in 0..FILES {
            let _ = unlinkat(&self.directory, name.to_string(), AtFlags::empty());
        }
    }
}
