//! Puts a mount in the place of the root, and into it what the engine had mounted into the old one.
//!
//! The new root covers the old one, which no path leads to from then on: `..` ends at the root of the mount namespace,
//! and there the kernel always goes on to what covers it. pivot_root would remove the old one altogether, and is refused
//! by the default filter of container engines.

use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{MoveMountFlags, move_mount};
use rustix::process::{chroot, fchdir};
use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;

use super::trees::{clone, hide, put};
use super::{etc_files, mounts};

/// @param disk Goes out of view.
pub fn enter(root: &OwnedFd, disk: &Path) -> Result<(), String> {
    let failed = |what: &str, errno: Errno| format!("cannot {what} the root: {errno}");
    let mountinfo = fs::read("/proc/self/mountinfo")
        .map_err(|error| format!("cannot read the mounts: {error}"))?;
    hide(disk)?;
    let essential: Vec<_> = mounts::kept(&mountinfo, disk)
        .into_iter()
        .map(|place| clone(&place).map(|mount| (place, mount)))
        .collect::<Result<_, _>>()?;
    // The folder of the disk is free now, and is out of reach in a moment.
    let files = etc_files::copies(disk)?;
    move_mount(root, "", CWD, "/", MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
        .map_err(|errno| failed("cover", errno))?;
    fchdir(root)
        .and_then(|()| chroot("."))
        .map_err(|errno| failed("enter", errno))?;
    for (place, mount) in essential {
        put(&mount, &place).map_err(|errno| format!("cannot show {}: {errno}", place.display()))?;
    }
    for (place, mount) in files {
        // Root inside can make such a place unusable, and still has to get its sandbox back.
        if let Err(errno) = put(&mount, Path::new(place)) {
            eprintln!("sandhaven-agent: cannot show {place}: {errno}");
        }
    }
    Ok(())
}
