//! The mounts of one machine, each inside of the stage, which is the working directory from then on.

pub mod attributes;
pub mod idmap;
pub mod namespace;

use crate::failure::{Failure, Step, failed};
use crate::spare::Spare;
use linux_raw_sys::general::{MOUNT_ATTR_NODEV, MOUNT_ATTR_NOSUID, MOUNT_ATTR_RDONLY};
use rustix::fs::{CWD, Gid, Mode, StatVfsMountFlags, Uid, chown, mkdir, stat, statvfs};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountFlags, MoveMountFlags, OpenTreeFlags,
    fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, mount, move_mount,
    open_tree,
};
use rustix::thread::{CapabilitySet, CapabilitySets};
use std::ffi::CStr;
use std::os::fd::OwnedFd;
use std::path::Path;

/// Bounds the machine's writes into the three files of /etc and those of its figures, which are bind-mounted
/// and in memory.
const STAGE_OPTIONS: &CStr = c"size=512k,nr_inodes=64,mode=0755";
const ETC_FILES: [&str; 3] = ["hosts", "hostname", "resolv.conf"];

/// Makes a small file system in memory with the mount points and the three files of /etc. It becomes the
/// working folder, so that no option of a later mount needs an absolute path, which may have commas and
/// colons.
pub fn make_stage(stage: &Path, bundle: &Path, uid_base: u32) -> Result<(), Failure> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("stage", stage, "tmpfs", flags, STAGE_OPTIONS).step("mount the stage")?;
    rustix::process::chdir(stage).step("enter the stage")?;
    for directory in ["disk", "lower", "root", "etc", "agents", "none", "agent"] {
        mkdir(directory, Mode::from_raw_mode(0o755)).step("furnish the stage")?;
    }
    for name in ETC_FILES {
        let file = Path::new("etc").join(name);
        std::fs::copy(bundle.join("etc").join(name), &file).step("copy a file of /etc")?;
        chown(
            &file,
            Some(Uid::from_raw(uid_base)),
            Some(Gid::from_raw(uid_base)),
        )
        .step("give a file of /etc to the machine")?;
    }
    Ok(())
}

pub fn mount_disk(device: &str, ids: &OwnedFd) -> Result<(), Failure> {
    let context = fsopen("ext4", FsOpenFlags::FSOPEN_CLOEXEC).step("open ext4")?;
    fsconfig_set_string(&context, "source", device).step("name the disk")?;
    for flag in ["discard", "noinit_itable"] {
        fsconfig_set_flag(&context, flag).step(flag)?;
    }
    // Acknowledged names and sizes are safe within a second; ext4's own interval is five.
    fsconfig_set_string(&context, "commit", "1").step("commit")?;
    fsconfig_set_string(&context, "errors", "remount-ro").step("errors")?;
    fsconfig_create(&context).step("read the disk")?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOATIME;
    let disk =
        fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes).step("mount the disk")?;
    idmap::apply(&disk, ids, 0).step("shift the disk's ids")?;
    attach(&disk, "disk")
}

pub fn mount_lower(lower: &Path, ids: &OwnedFd) -> Result<(), Failure> {
    mount_read_only(lower, ids, "lower")
}

fn mount_read_only(folder: &Path, ids: &OwnedFd, at: &str) -> Result<(), Failure> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let tree = open_tree(CWD, folder, flags).step(format!("open {at}"))?;
    let attributes = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    idmap::apply(&tree, ids, attributes).step(format!("shift the ids of {at}"))?;
    attach(&tree, at)
}

/// Mounts the folder of agents as a file system of its own: the machine sees the path of a mounted file in
/// its file system, which must not be a path of the host.
pub fn mount_agents(agents: &Path, ids: &OwnedFd) -> Result<(), Failure> {
    mount_read_only(agents, ids, "agents")?;
    let context = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC).step("open overlay")?;
    fsconfig_set_string(&context, "lowerdir", "agents:none").step("lowerdir")?;
    fsconfig_create(&context).step("make the overlay of agents")?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_RDONLY;
    let overlay =
        fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes).step("mount the agents")?;
    attach(&overlay, "agent")
}

/// On a full disk, the spare files make way for what overlayfs needs.
pub fn mount_overlay(uid_base: u32) -> Result<(), Failure> {
    let spare = Spare::open("disk/spare").step("open the spare files")?;
    let root = match open_overlay()? {
        Err(Errno::NOSPC) => {
            spare.give();
            open_overlay()?.step("make the overlay")?
        }
        other => other.step("make the overlay")?,
    };
    spare.keep();
    attach(&root, "root")?;
    // Overlayfs falls back to read-only instead of failing, when it cannot use its work directory.
    if statvfs("root")
        .step("examine the overlay")?
        .f_flag
        .contains(StatVfsMountFlags::RDONLY)
    {
        return Err(failed("the overlay is read-only"));
    }
    match stat("root").step("examine the overlay")?.st_uid {
        owner if owner == uid_base => Ok(()),
        owner => Err(failed(format!(
            "the overlay's root belongs to {owner} instead of {uid_base}"
        ))),
    }
}

/// redirect_dir lets directories of the image be renamed; it is safe because the names it stores are trusted.*
/// attributes, which a machine cannot write. index stays off: it would tie a disk to one copy of its image.
fn open_overlay() -> Result<Result<OwnedFd, Errno>, Failure> {
    let context = without_resource_rights(|| {
        fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC).step("open overlay")
    })?;
    for (key, value) in [
        ("lowerdir", "lower"),
        ("upperdir", "disk/upper"),
        ("workdir", "disk/work"),
        ("redirect_dir", "on"),
        ("index", "off"),
        ("metacopy", "off"),
        ("xino", "auto"),
    ] {
        fsconfig_set_string(&context, key, value).step(key)?;
    }
    let nodev = MountAttrFlags::MOUNT_ATTR_NODEV;
    Ok(fsconfig_create(&context)
        .and_then(|()| fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, nodev)))
}

/// Overlayfs writes with the rights of the process that mounted it, whose right to exceed resource limits
/// would let the machine exceed those of the disk. Executing runc brings the capability back.
fn without_resource_rights<T>(open: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let all = rustix::thread::capabilities(None).step("read capabilities")?;
    let effective = all.effective.difference(CapabilitySet::SYS_RESOURCE);
    rustix::thread::set_capabilities(None, CapabilitySets { effective, ..all })
        .step("drop a capability")?;
    let result = open();
    rustix::thread::set_capabilities(None, all).step("restore capabilities")?;
    result
}

fn attach(mount: &OwnedFd, at: &str) -> Result<(), Failure> {
    move_mount(mount, "", CWD, at, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
        .step(format!("attach {at}"))
}
