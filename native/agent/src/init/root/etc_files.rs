//! Copies the files of /etc that the engine shares with the node into memory of the sandbox: programs that
//! fill the originals would fill the node's disk.

use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, fsconfig_create,
    fsconfig_set_string, fsmount, fsopen, move_mount,
};
use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;

use super::mounts::ETC_FILES;
use super::trees::clone;

/// The same size as on one machine.
const BOUNDS: [(&str, &str); 3] = [("size", "512k"), ("nr_inodes", "64"), ("mode", "0755")];

/// Returns each copy with its place. Files that the container lacks are left out.
/// @param folder Folder of the copies, which a file system in memory covers.
pub fn copies(folder: &Path) -> Result<Vec<(&'static str, OwnedFd)>, String> {
    let memory = in_memory().map_err(|errno| format!("cannot copy files of /etc: {errno}"))?;
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    move_mount(&memory, "", CWD, folder, flags)
        .map_err(|errno| format!("cannot cover {}: {errno}", folder.display()))?;
    let mut files = Vec::new();
    for place in ETC_FILES {
        let Ok(content) = fs::read(place) else {
            continue;
        };
        let copy = folder.join(place.trim_start_matches("/etc/"));
        fs::write(&copy, content).map_err(|error| format!("cannot copy {place}: {error}"))?;
        files.push((place, clone(&copy)?));
    }
    Ok(files)
}

fn in_memory() -> Result<OwnedFd, Errno> {
    let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (name, value) in BOUNDS {
        fsconfig_set_string(&context, name, value)?;
    }
    fsconfig_create(&context)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}
