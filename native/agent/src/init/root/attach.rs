//! Puts a mount over the root, and moves the engine's mounts of the old root into it.
//!
//! The new root covers the old one, which no path leads to from then on: `..` ends at the root of the mount namespace,
//! and there the kernel always goes on to what covers it. pivot_root would remove the old one altogether, and is refused
//! by the default filter of container engines.

use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{MoveMountFlags, move_mount};
use rustix::process::{chroot, fchdir};
use std::env;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;

use super::trees::{clone, hide, put};
use super::{etc_files, mounts};

/// @param disk Mount that is hidden.
pub fn enter(root: &OwnedFd, disk: &Path) -> Result<(), String> {
    let failed = |what: &str, errno: Errno| format!("cannot {what} the root: {errno}");
    let mountinfo = fs::read("/proc/self/mountinfo")
        .map_err(|error| format!("cannot read the mounts: {error}"))?;
    hide(disk)?;
    let agent = env::current_exe().map_err(|error| format!("cannot find the agent: {error}"))?;
    let kept: Vec<_> = mounts::kept(&mountinfo, disk)
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
    let files = files
        .into_iter()
        .map(|(place, mount)| (place.into(), mount));
    for (place, mount) in kept.into_iter().chain(files) {
        show(&mount, &place, mounts::is_essential(&place, &agent))?;
    }
    Ok(())
}

/// Root inside can make a place unusable, with a file or a dangling link, and still must get its sandbox back.
fn show(mount: &OwnedFd, place: &Path, is_essential: bool) -> Result<(), String> {
    let Err(errno) = put(mount, place) else {
        return Ok(());
    };
    let reason = format!("cannot show {}: {errno}", place.display());
    if is_essential {
        return Err(reason);
    }
    eprintln!("sandhaven-agent: {reason}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_place_that_cannot_be_used_ends_the_start_only_where_it_is_essential() {
        let scratch = env::temp_dir().join(format!("attach-{}", std::process::id()));
        fs::create_dir(&scratch).unwrap();
        let place = scratch.join("library");
        symlink("nowhere", &place).unwrap();
        let folder = OwnedFd::from(fs::File::open(&scratch).unwrap());
        show(&folder, &place, false).unwrap();
        let refused = show(&folder, &place, true).unwrap_err();
        assert!(refused.starts_with("cannot show /"), "{refused}");
        fs::remove_dir_all(&scratch).unwrap();
    }
}
