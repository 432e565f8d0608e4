//! Limits of an image, counted during unpacking: a bomb fails at the first byte over a limit.

use crate::failure::{Failure, Kind, Step, too_large};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::fstatvfs;

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of all layers together: after decompression, and as files on the disk.
    pub bytes: u64,
    /// Files, folders, links, and all other entries of an archive.
    pub entries: u64,
    /// Bytes of one file, holes included.
    pub file_bytes: u64,
    /// Folders within folders.
    pub depth: usize,
    /// A layer may decompress to `ratio_free` bytes and `ratio` times its own size.
    pub ratio: u64,
    pub ratio_free: u64,
    /// Free disk that must remain.
    pub reserve_bytes: u64,
}

pub struct Budget {
    pub limits: Limits,
    pub stream_bytes: u64,
    pub disk_bytes: u64,
    pub entries: u64,
    unchecked: u64,
    reported: u64,
    root: OwnedFd,
}

const BLOCK: u64 = 4096;
/// Free disk is checked after this many bytes.
const CHECK_EVERY: u64 = 16 * 1024 * 1024;
const REPORT_EVERY: u64 = 32 * 1024 * 1024;

impl Budget {
    pub fn new(limits: Limits, root: OwnedFd) -> Budget {
        Budget {
            limits,
            stream_bytes: 0,
            disk_bytes: 0,
            entries: 0,
            unchecked: CHECK_EVERY,
            reported: 0,
            root,
        }
    }

    /// Bytes that came out of the decompression.
    pub fn stream(&mut self, bytes: u64) -> Result<(), Failure> {
        self.stream_bytes += bytes;
        if self.stream_bytes > self.limits.bytes {
            return Err(too_large(format!(
                "over {} bytes when unpacked",
                self.limits.bytes
            )));
        }
        if self.stream_bytes - self.reported >= REPORT_EVERY {
            self.reported = self.stream_bytes;
            println!("progress {} {}", self.stream_bytes, self.entries);
        }
        Ok(())
    }

    pub fn entry(&mut self) -> Result<(), Failure> {
        self.entries += 1;
        if self.entries > self.limits.entries {
            return Err(too_large(format!(
                "over {} files and folders",
                self.limits.entries
            )));
        }
        self.takes(0)
    }

    /// A file of this size, or a folder, is about to be made; each takes at least one block.
    pub fn takes(&mut self, bytes: u64) -> Result<(), Failure> {
        let blocks = bytes.div_ceil(BLOCK).max(1).saturating_mul(BLOCK);
        self.disk_bytes = self.disk_bytes.saturating_add(blocks);
        if self.disk_bytes
            > self
                .limits
                .bytes
                .saturating_add(self.limits.entries.saturating_mul(BLOCK))
        {
            return Err(too_large(format!(
                "over {} bytes when unpacked",
                self.limits.bytes
            )));
        }
        self.unchecked += BLOCK;
        self.check_disk()
    }

    /// Bytes are about to be written to a file.
    pub fn writes(&mut self, bytes: u64) -> Result<(), Failure> {
        self.unchecked += bytes;
        self.check_disk()
    }

    fn check_disk(&mut self) -> Result<(), Failure> {
        if self.unchecked < CHECK_EVERY {
            return Ok(());
        }
        self.unchecked = 0;
        let found = fstatvfs(self.root.as_fd()).step("look at the free disk")?;
        let free = found.f_bavail.saturating_mul(found.f_frsize);
        if free < self.limits.reserve_bytes {
            return Err(Failure::new(Kind::NoSpace, "the disk is short of space"));
        }
        Ok(())
    }
}
