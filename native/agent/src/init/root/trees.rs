//! Steps with mounts: copies one with all below it, attaches it at a place, and hides one.

use rustix::fs::{CWD, FileType, fstat, stat};
use rustix::io::Errno;
use rustix::mount::{MoveMountFlags, OpenTreeFlags, UnmountFlags, move_mount, open_tree, unmount};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

const DETACHED: UnmountFlags = UnmountFlags::DETACH.union(UnmountFlags::NOFOLLOW);

/// Clones a mount with all mounts below it.
pub fn clone(place: &Path) -> Result<OwnedFd, String> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    open_tree(CWD, place, flags)
        .map_err(|errno| format!("cannot clone {}: {errno}", place.display()))
}

pub fn hide(disk: &Path) -> Result<(), String> {
    unmount(disk, DETACHED).map_err(|errno| format!("cannot hide {}: {errno}", disk.display()))
}

/// Makes the place where programs inside have removed it.
pub fn put(mount: &OwnedFd, place: &Path) -> Result<(), Errno> {
    if stat(place).is_err() {
        let is_folder = FileType::from_raw_mode(fstat(mount)?.st_mode) == FileType::Directory;
        let folder = if is_folder {
            Some(place)
        } else {
            place.parent()
        };
        fs::create_dir_all(folder.unwrap_or(place)).map_err(errno_of)?;
        if !is_folder {
            fs::File::create(place).map_err(errno_of)?;
        }
    }
    // A link is followed, as engines do: images have /etc/resolv.conf as one.
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_SYMLINKS;
    move_mount(mount, "", CWD, place, flags)
}

fn errno_of(error: io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}
