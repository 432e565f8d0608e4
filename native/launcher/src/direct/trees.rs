//! Mounts by descriptor: they are made or cloned first, then attached at a place that is open too. No path of
//! the image is resolved.

use crate::mounts::attributes;
use linux_raw_sys::general::{MOUNT_ATTR_NODEV, MOUNT_ATTR_NOSUID, MOUNT_ATTR_RDONLY};
use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create,
    fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
};
use std::io::Error;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

pub enum Setting<'a> {
    Flag(&'a str),
    Value(&'a str, &'a str),
}

/// Makes a file system of this kind in this process's namespaces. Its source is its kind.
pub fn make(
    kind: &str,
    settings: &[Setting<'_>],
    attributes: MountAttrFlags,
) -> Result<OwnedFd, Errno> {
    let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&context, "source", kind)?;
    for setting in settings {
        match setting {
            Setting::Flag(name) => fsconfig_set_flag(&context, *name)?,
            Setting::Value(name, value) => fsconfig_set_string(&context, *name, *value)?,
        }
    }
    fsconfig_create(&context)?;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// Clones a mount of the host or of the stage, by a path that no machine controls.
pub fn clone(path: impl AsRef<Path>) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    open_tree(CWD, path.as_ref(), flags)
}

/// Clones a mount with all mounts below it.
pub fn clone_whole(path: impl AsRef<Path>) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    open_tree(CWD, path.as_ref(), flags)
}

/// Clones the open file or folder.
pub fn clone_open(file: impl AsFd) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH;
    open_tree(file, "", flags)
}

pub fn attach(mount: impl AsFd, place: impl AsFd) -> Result<(), Errno> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(mount, "", place, "", flags)
}

pub fn make_read_only(mount: &OwnedFd) -> Result<(), Error> {
    attributes::set(mount, MOUNT_ATTR_RDONLY, None)
}

/// Makes a mount of a host's file safe for a machine.
pub fn make_harmless(mount: &OwnedFd) -> Result<(), Error> {
    let attributes = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    attributes::set(mount, attributes, None)
}
