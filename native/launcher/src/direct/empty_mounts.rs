//! A mount namespace without anything of the host: an empty folder, with a /proc and a /sys of namespaces
//! that no process is in.
//!
//! A machine's own begins as a copy of it, whose root the machine's covers. Nothing leads below the cover:
//! `..` ends at the root of a mount namespace, and there the kernel goes on to what covers it. So the host's
//! mounts need no removal by a change of root, for which the kernel goes through each thread of the host.
//!
//! The /proc and the /sys are for the kernel: a user namespace may mount its own only while others are fully visible.

use super::trees;
use crate::failure::{Failure, Step};
use crate::mounts::namespace;
use rustix::fs::{Mode, OFlags, mkdirat, open, openat};
use rustix::mount::{MountAttrFlags, MountPropagationFlags, UnmountFlags, mount_change, unmount};
use rustix::process::{chdir, fchdir, pivot_root};
use std::os::fd::OwnedFd;
use trees::Setting;

const KINDS: i32 = libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWNET;
/// A folder of every system; in this namespace the empty one covers it for a moment.
const PLACE: &str = "/proc";
const PATH: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Enough for two folders.
const OPTIONS: [Setting<'_>; 3] = [
    Setting::Value("size", "4k"),
    Setting::Value("nr_inodes", "3"),
    Setting::Value("mode", "0555"),
];

pub fn make() -> Result<OwnedFd, Failure> {
    namespace::make(KINDS, furnish)
}

fn furnish() -> Result<(), Failure> {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).step("make mounts private")?;
    let harmless = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    let root = trees::make("tmpfs", &OPTIONS, harmless).step("make an empty root")?;
    let place = open(PLACE, PATH, Mode::empty()).step("find a place for it")?;
    trees::attach(&root, place).step("mount an empty root")?;
    // Where this one cannot be writable, the machine's own could not be either.
    show(&root, "proc", "proc", harmless)?;
    show(
        &root,
        "sys",
        "sysfs",
        harmless | MountAttrFlags::MOUNT_ATTR_RDONLY,
    )?;
    trees::make_read_only(&root).step("make the empty root read-only")?;
    enter_alone(&root)
}

fn show(root: &OwnedFd, name: &str, kind: &str, attributes: MountAttrFlags) -> Result<(), Failure> {
    let step = || format!("mount the empty root's {name}");
    mkdirat(root, name, Mode::from_raw_mode(0o555)).step(step())?;
    let place = openat(root, name, PATH, Mode::empty()).step(step())?;
    trees::make(kind, &[], attributes)
        .and_then(|mount| trees::attach(mount, place))
        .step(step())
}

/// The old root ends up over the new one, and is detached.
fn enter_alone(root: &OwnedFd) -> Result<(), Failure> {
    fchdir(root).step("enter the empty root")?;
    pivot_root(".", ".").step("change the root")?;
    unmount(".", UnmountFlags::DETACH).step("leave the host's files")?;
    chdir("/").step("enter the empty root")
}
