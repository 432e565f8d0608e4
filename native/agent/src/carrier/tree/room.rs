//! The room that the files of a disk need once their archive is unpacked. An archive has each file whole. So files may need
//! more than a disk of the same size has where they share blocks (by reflinks, on XFS and btrfs), or are compressed and
//! counted as if they were not (on btrfs).

use rustix::fs::{Stat, fstatvfs};
use rustix::io::Errno;
use std::os::fd::AsFd;

use crate::wire::fault::{Code, Fault};

/// One part of so many is for the disk's own records. It counts only where files need more than is in use.
const RECORDS: u64 = 16;

/// Of `Stat::st_blocks`, whatever the file system's own blocks are.
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
    /// Files without shared blocks never take more than what is in use now, so a full disk has room for its own files.
    pub fn of(disk: impl AsFd) -> Result<Self, Errno> {
        let found = fstatvfs(disk)?;
        let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
        let used = bytes(found.f_blocks.saturating_sub(found.f_bfree));
        // Less than the whole where the file system keeps room for itself, as btrfs does for the copies of its records.
        let usable = used.saturating_add(bytes(found.f_bavail));
        // Some file systems do not say how large they are.
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

    /// Counts a file. The blocks that are its own bound the count from above: they are fewer than its bytes where the file
    /// system compresses them. Less than one block lies among the file system's records.
    /// @param data_bytes Without its holes.
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
