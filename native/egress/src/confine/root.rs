//! An empty file system as the root of a mount namespace of its own.

use crate::failure::{Failure, Step};
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_change, unmount,
};
use rustix::process::{chdir, pivot_root};
use rustix::thread::{UnshareFlags, unshare_unsafe};

/// A folder that every system has. In this namespace the empty file system covers it.
const PLACE: &str = "/run";

pub fn empty() -> Result<(), Failure> {
    // SAFETY: this process has one thread, and shares no files or memory with another.
    unsafe { unshare_unsafe(UnshareFlags::NEWNS) }.step("enter a mount namespace")?;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).step("make mounts private")?;
    let flags = MountFlags::RDONLY | MountFlags::NODEV | MountFlags::NOSUID | MountFlags::NOEXEC;
    mount(
        "none",
        PLACE,
        "tmpfs",
        flags,
        c"size=4k,nr_inodes=1,mode=0555",
    )
    .step("mount an empty root")?;
    chdir(PLACE).step("enter the empty root")?;
    pivot_root(".", ".").step("change the root")?;
    unmount(".", UnmountFlags::DETACH).step("leave the host's files")?;
    chdir("/").step("enter the empty root")
}
