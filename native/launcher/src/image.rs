//! Disk images and their lock.
//!
//! Invariant: a process that writes to an image, or reads all of it, holds an exclusive flock on it. A loop
//! device keeps its open file, and with it the lock, for as long as it lives. So the kernel itself refuses a
//! second mount, a resize or an archive of a disk in use, even after a crash of the service.

use crate::failure::{Failure, Step, failed, locked};
use rustix::fs::{FileType, FlockOperation, Mode, OFlags, flock, fstat, open};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;

pub fn open_locked(path: &OsStr) -> Result<OwnedFd, Failure> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let image = open(path, flags, Mode::empty()).step("open the disk image")?;
    let stat = fstat(&image).step("stat the disk image")?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(failed("the disk image is not a regular file"));
    }
    match flock(&image, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Err(locked("the disk image is in use")),
        other => other.step("lock the disk image").map(|()| image),
    }
}
