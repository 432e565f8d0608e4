//! Room to start on a disk that programs have filled to the last block and inode: overlayfs makes a few files
//! whenever it is mounted. Spare files make way for them, and come back as soon as there is room.

use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate, mkdir, open};
use std::fs;
use std::path::Path;

const FILES: u32 = 8;
const FILE_BYTES: u64 = 8192;

/// Makes missing spare files, as far as there is room.
pub fn keep(folder: &Path) {
    let _ = mkdir(folder, Mode::RWXU);
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    for name in 0..FILES {
        if let Ok(file) = open(folder.join(name.to_string()), flags, Mode::RUSR) {
            let _ = fallocate(&file, FallocateFlags::empty(), 0, FILE_BYTES);
        }
    }
}

pub fn give(folder: &Path) {
    for name in 0..FILES {
        let _ = fs::remove_file(folder.join(name.to_string()));
    }
}
