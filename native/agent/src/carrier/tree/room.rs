//! The room that the files of a disk need once their archive is unpacked. An archive has each file in full,
//! so files that share blocks (reflinks, on XFS and btrfs) or are compressed (on btrfs) may need more room
//! than a disk of the same size has.

use rustix::fs::{Stat, fstatvfs};
use rustix::io::Errno;
use std::os::fd::AsFd;

use crate::wire::fault::{Code, Fault};

/// The disk's own records take one part of this many. It counts only where files need more than is in use.
const RECORDS: u64 = 16;

/// Unit of `Stat::st_blocks`, whatever the file system's own blocks are.
const STAT_BLOCK: u64 = 512;

/// Some file systems name blocks of megabytes, and take sectors.
const LEAST_SHARED: u64 = 4096;

pub struct Room {
    most: u64,
    taken: u64,
    /// Each file takes whole blocks.
    block: u64,
}

impl Room {
    /// Files without shared blocks never take more than what is in use, so a full disk has room for its own files.
    pub fn of(disk: impl AsFd) -> Result<Self, Errno> {
        let found = fstatvfs(disk)?;
        let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
        let used = bytes(found.f_blocks.saturating_sub(found.f_bfree));
        // Less than the full size where the file system reserves room, as btrfs does for copies of its records.
        let usable = used.saturating_add(bytes(found.f_bavail));
        // Some file systems do not report their size.
        let most = match bytes(found.f_blocks) {
            0 => u64::MAX,
            all => used.max(usable.saturating_sub(all / RECORDS)),
        };
        Ok(Self::new(most, found.f_frsize))
    }

    pub fn new(most: u64, block: u64) -> Self {
        Self {
            most,
            taken: 0,
            block: block.max(1),
        }
    }

    /// Counts a file: its whole blocks of data, or its own blocks on the disk where those are fewer, as with
    /// compression. A file of less than one own block lies in the file system's records and counts nothing.
    /// @param data_bytes Bytes of the file without its holes.
    pub fn take(&mut self, stat: &Stat, data_bytes: u64) -> Result<(), Fault> {
        let whole = data_bytes.div_ceil(self.block).saturating_mul(self.block);
        let own = match (stat.st_blocks as u64).saturating_mul(STAT_BLOCK) {
            own if own < self.block.min(LEAST_SHARED) => 0,
            own => own,
        };
        self.taken = self.taken.saturating_add(whole.min(own));
        if self.taken <= self.most {
            return Ok(());
        }
        let detail = format!(
            "Files of the disk share blocks or are compressed, and an archive has each file whole: a new disk of this size \
             has no room for them, {} bytes.",
            self.most
        );
        let hint = "Start the sandbox and delete some copies of files, or grow its disk with Sandbox.ResizeSandbox.";
        Err(Fault::new(Code::FailedPrecondition, detail).hint(hint))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::stat;

    /// @param blocks Of 512 bytes.
    fn file_of(blocks: u64) -> Stat {
        let mut file = stat("/").unwrap();
        file.st_blocks = blocks as i64;
        file
    }

    #[test]
    fn files_that_share_blocks_are_refused_once_they_need_more_than_the_disk_has() {
        let mut room = Room::new(3 * 4096, 4096);
        for _ in 0..3 {
            room.take(&file_of(8), 1).unwrap();
        }
        room.take(&file_of(0), 0).unwrap();
        let refused = room.take(&file_of(8), 1).unwrap_err();
        assert_eq!(refused.code, Code::FailedPrecondition);
        assert!(refused.detail.contains("12288 bytes"), "{refused:?}");
    }

    #[test]
    fn a_full_disk_has_room_for_its_own_files() {
        // Blocks of 1 KiB; files among the records; one that is compressed; one with room that it does not use.
        let mut room = Room::new(1024 + 4096 + 1024, 1024);
        room.take(&file_of(2), 1).unwrap();
        room.take(&file_of(0), 60).unwrap();
        // ext4 shows a sector of what lies in the inode.
        room.take(&file_of(1), 100).unwrap();
        room.take(&file_of(8), 1 << 20).unwrap();
        room.take(&file_of(800), 1024).unwrap();
        assert!(room.take(&file_of(2), 1).is_err());
    }

    #[test]
    fn a_disk_gives_at_least_the_room_that_is_in_use() {
        let root = std::fs::File::open("/").unwrap();
        let found = fstatvfs(&root).unwrap();
        let room = Room::of(&root).unwrap();
        assert!(room.most >= (found.f_blocks - found.f_bfree) * found.f_frsize);
        assert!(room.most <= found.f_blocks * found.f_frsize);
        assert_eq!(room.block, found.f_frsize);
    }
}
