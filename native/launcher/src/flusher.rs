//! `flush-early`: keeps the flushes of the host's disk short.
//!
//! A disk with a volatile cache writes all of it out at a flush, and serves nothing else meanwhile: a sandbox
//! that writes without a sync makes another's small write wait for hundreds of megabytes. This process
//! flushes the disk after every small amount of writes, so that each flush is short.

use crate::failure::{Failure, Step};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, Stat, fdatasync, fstat, major, minor, open};
use rustix::io::{Errno, pread};
use std::fs::File;
use std::io::{Error, stdout};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Target duration of a flush, where the disk's cache allows it.
const TARGET: Duration = Duration::from_millis(10);
/// Bytes written between two flushes. Below the minimum a flush costs more than it saves.
const SMALLEST: u64 = 2 << 20;
const LARGEST: u64 = 32 << 20;
/// Pauses between two checks: while the disk is written to, and otherwise.
const BUSY_PAUSE: Timespec = milliseconds(2);
const IDLE_PAUSE: Timespec = milliseconds(20);
/// A disk counts as written to for this long after a check that found this many bytes. Programs write in bursts.
const BUSY: Duration = Duration::from_secs(2);
const BUSY_BYTES: u64 = 256 << 10;
/// Sectors of the kernel's statistics, whatever the disk's own sectors are.
const SECTOR_BYTES: u64 = 512;
/// The kernel's line of a disk has about 20 numbers.
const STAT_BYTES: usize = 1024;

/// Serves until its standard output has no reader, when the process that started it has ended. Returns at
/// once where there is nothing to do: the folder lies on no single disk (btrfs, overlay, a network), or on
/// one without a volatile cache.
///
/// The folder should not change, so that syncing it causes a flush and no commit of a journal.
pub fn run(folder: &Path) -> Result<(), Failure> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = open(folder, flags, Mode::empty()).step("open the folder")?;
    let device = device_of(&fstat(&folder).step("find the disk")?);
    if !has_volatile_cache(&device) {
        return Ok(());
    }
    let Ok(figures) = File::open(device.join("stat")) else {
        return Ok(());
    };
    serve(&folder, &figures.into())
}

fn serve(folder: &OwnedFd, figures: &OwnedFd) -> Result<(), Failure> {
    let mut pace = Pace::default();
    let mut flushed = bytes_written(figures)?;
    let mut seen = flushed;
    let mut busy_until = Instant::now();
    loop {
        let written = bytes_written(figures)?;
        let now = Instant::now();
        if written.wrapping_sub(seen) >= BUSY_BYTES {
            busy_until = now + BUSY;
        }
        seen = written;
        if written.wrapping_sub(flushed) >= pace.bytes {
            fdatasync(folder).step("flush the disk")?;
            pace.learn(now.elapsed());
            flushed = written;
            continue;
        }
        let is_busy = now < busy_until;
        if is_abandoned_within(if is_busy { &BUSY_PAUSE } else { &IDLE_PAUSE })? {
            return Ok(());
        }
    }
}

/// Waits, and returns true as soon as standard output has no reader. A parent's death signal would not come
/// when the parent ended before it was requested.
fn is_abandoned_within(pause: &Timespec) -> Result<bool, Failure> {
    let output = stdout();
    let mut watched = [PollFd::from_borrowed_fd(output.as_fd(), PollFlags::empty())];
    match poll(&mut watched, Some(pause)) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error).step("wait"),
    }
}

const fn milliseconds(count: i64) -> Timespec {
    Timespec {
        tv_sec: 0,
        tv_nsec: count * 1_000_000,
    }
}

/// Returns the bytes that may be written before the next flush.
struct Pace {
    bytes: u64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { bytes: 8 << 20 }
    }
}

impl Pace {
    fn learn(&mut self, took: Duration) {
        if took > TARGET {
            self.bytes = (self.bytes / 2).max(SMALLEST);
        } else if took < TARGET / 2 {
            self.bytes = (self.bytes + self.bytes / 4).min(LARGEST);
        }
    }
}

/// The kernel's folder of the block device. A file system of no single disk has a number without one.
fn device_of(stat: &Stat) -> PathBuf {
    let (major, minor) = (major(stat.st_dev), minor(stat.st_dev));
    PathBuf::from(format!("/sys/dev/block/{major}:{minor}"))
}

/// A partition has its queue in the folder of its disk.
fn has_volatile_cache(device: &Path) -> bool {
    ["queue/write_cache", "../queue/write_cache"]
        .iter()
        .filter_map(|file| std::fs::read_to_string(device.join(file)).ok())
        .any(|cache| cache.trim() == "write back")
}

/// Source of the format: Documentation/block/stat.rst of the kernel.
fn bytes_written(figures: &OwnedFd) -> Result<u64, Failure> {
    let mut line = [0; STAT_BYTES];
    let length = pread(figures, &mut line, 0).step("read what was written")?;
    let sectors: Option<u64> = line
        .get(..length)
        .and_then(|line| std::str::from_utf8(line).ok())
        .and_then(|line| line.split_ascii_whitespace().nth(6)?.parse().ok());
    sectors
        .map(|sectors| sectors.wrapping_mul(SECTOR_BYTES))
        .ok_or_else(|| Error::other("not a line of figures"))
        .step("read what was written")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_flush_makes_the_next_come_sooner_and_a_fast_one_later() {
        let mut pace = Pace { bytes: 8 << 20 };
        pace.learn(Duration::from_millis(11));
        assert_eq!(pace.bytes, 4 << 20);
        pace.learn(Duration::from_millis(7));
        assert_eq!(pace.bytes, 4 << 20);
        pace.learn(Duration::from_millis(1));
        assert_eq!(pace.bytes, 5 << 20);
    }

    #[test]
    fn the_pace_stays_within_its_bounds() {
        let mut pace = Pace::default();
        for _ in 0..100 {
            pace.learn(Duration::from_secs(1));
        }
        assert_eq!(pace.bytes, 2 << 20);
        for _ in 0..100 {
            pace.learn(Duration::ZERO);
        }
        assert_eq!(pace.bytes, 32 << 20);
    }
}
