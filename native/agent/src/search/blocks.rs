//! A regular file as blocks of whole lines, one in memory at a time. It is never mapped, since truncation by
//! another program would kill the agent.

use memchr::{memchr, memrchr};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags, fstat, openat};
use rustix::io::Errno;
use std::ffi::CStr;

use super::budget::Budget;
use crate::files::location::{file_type, size};
use crate::wire::fault::Fault;

const BLOCK_BYTES: usize = 128 << 10;
/// A longer line is taken in pieces; a match across the cut is missed.
const LINE_BYTES: usize = 16 << 20;
/// Most bytes of a file that the kernel generates on reading.
const UNSIZED_BYTES: u64 = 16 << 20;

/// Memory that is reused from file to file.
#[derive(Default)]
pub struct Buffer(Vec<u8>);

pub struct Blocks<'a> {
    file: OwnedFd,
    buffer: &'a mut Vec<u8>,
    filled: usize,
    /// Bytes of the filled part that the last block had.
    taken: usize,
    /// Bytes of the file still to be read, without those that are appended meanwhile. None while the size is not known.
    left: Option<u64>,
}

pub enum Next {
    /// Its last line goes on in the next block when it lacks its newline.
    Block,
    End,
    /// The file is not text, or can no longer be read.
    Unfit,
}

/// An open file and its size; None while the size is unknown.
pub type Opened = (OwnedFd, Option<u64>);

/// None for a file that is not regular or cannot be opened.
pub fn open(folder: impl AsFd, name: &CStr) -> Option<Opened> {
    let file = open_listed(folder, name)?;
    let size = regular_size(&file)?;
    Some((file, Some(size)))
}

/// As `open`, for a name that its folder lists as a regular file, in a file system where a short read means
/// the end of the file: most files then need no stat. Whatever has taken the name meanwhile cannot block.
pub fn open_listed(folder: impl AsFd, name: &CStr) -> Option<OwnedFd> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    match openat(&folder, name, flags | OFlags::NOATIME, Mode::empty()) {
        // Only owners may leave the time of access as it is.
        Err(Errno::PERM) => openat(&folder, name, flags, Mode::empty()).ok(),
        result => result.ok(),
    }
}

fn regular_size(file: &OwnedFd) -> Option<u64> {
    let stat = fstat(file).ok()?;
    (file_type(&stat) == FileType::RegularFile).then(|| size(&stat))
}

impl<'a> Blocks<'a> {
    pub fn new((file, size): Opened, Buffer(buffer): &'a mut Buffer) -> Self {
        if buffer.len() != BLOCK_BYTES {
            *buffer = vec![0; BLOCK_BYTES];
        }
        Self {
            file,
            buffer,
            filled: 0,
            taken: 0,
            left: match size {
                Some(0) => Some(UNSIZED_BYTES),
                size => size,
            },
        }
    }

    /// The block that the last `next` announced.
    pub fn block(&self) -> &[u8] {
        &self.buffer[..self.taken]
    }

    pub fn next(&mut self) -> Next {
        self.buffer.copy_within(self.taken..self.filled, 0);
        self.filled -= self.taken;
        self.taken = 0;
        loop {
            let room = self.buffer.len() - self.filled;
            let left = self.left.unwrap_or(u64::MAX);
            let wanted = usize::try_from(left).unwrap_or(room).min(room);
            let seen = self.filled;
            if wanted > 0 {
                let target = &mut self.buffer[seen..seen + wanted];
                let Ok(read) = rustix::io::read(&self.file, target) else {
                    return Next::Unfit;
                };
                if memchr(0, &self.buffer[seen..seen + read]).is_some() {
                    return Next::Unfit;
                }
                self.filled += read;
                self.left = match self.left {
                    _ if read == 0 => Some(0),
                    Some(left) => Some(left - read as u64),
                    None if read < wanted => Some(0),
                    None => match regular_size(&self.file) {
                        Some(size) => Some(size.saturating_sub(read as u64)),
                        None => return Next::Unfit,
                    },
                };
            }
            if self.left == Some(0) {
                self.taken = self.filled;
            } else if self.filled == self.buffer.len() {
                self.taken = match memrchr(b'\n', &self.buffer[..self.filled]) {
                    Some(newline) => newline + 1,
                    None if self.filled >= LINE_BYTES => self.filled,
                    None => {
                        self.buffer.resize(2 * self.filled, 0);
                        continue;
                    }
                };
            } else {
                continue;
            }
            return if self.taken == 0 {
                Next::End
            } else {
                Next::Block
            };
        }
    }

    /// True where the rest of the file is text too.
    pub fn rest_is_text(&mut self, budget: &Budget) -> Result<bool, Fault> {
        loop {
            budget.check()?;
            self.taken = self.filled;
            match self.next() {
                Next::Block => {}
                Next::End => return Ok(true),
                Next::Unfit => return Ok(false),
            }
        }
    }
}
