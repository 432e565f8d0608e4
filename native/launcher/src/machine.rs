//! `start`: from a disk image and an unpacked image to a running machine.
//!
//! Everything is mounted in a mount namespace of this process alone. The machine's own namespace is a copy of it,
//! so the host shows no mount, and when the machine dies all of them and the loop device go with it.

use crate::failure::{Failure, Step, failed};
use crate::spare::Spare;
use crate::{fence, idmap, image, loop_device, socket};
use lexopt::prelude::*;
use linux_raw_sys::general::{MOUNT_ATTR_NODEV, MOUNT_ATTR_NOSUID, MOUNT_ATTR_RDONLY};
use rustix::fs::{
    CWD, Gid, Mode, OFlags, StatVfsMountFlags, Uid, chown, mkdir, open, stat, statvfs,
};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountFlags, MountPropagationFlags, MoveMountFlags,
    OpenTreeFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, mount,
    mount_change, move_mount, open_tree,
};
use rustix::thread::{CapabilitySet, CapabilitySets, UnshareFlags};
use std::convert::Infallible;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the machine may write into the three files of /etc: they are bind-mounted, and live in memory.
const STAGE_OPTIONS: &std::ffi::CStr = c"size=256k,nr_inodes=64,mode=0755";
const ETC_FILES: [&str; 3] = ["hosts", "hostname", "resolv.conf"];

struct Options {
    cgroups: Vec<OsString>,
    id: OsString,
    bundle: PathBuf,
    stage: PathBuf,
    disk: OsString,
    lower: PathBuf,
    uid_base: u32,
    socket: OsString,
    runc: OsString,
    runc_root: OsString,
}

pub fn start(args: lexopt::Parser) -> Result<Infallible, Failure> {
    let options = parse(args)?;
    fence::join(&options.cgroups)?;
    let image = image::open_locked(&options.disk)?;
    let device = loop_device::attach(&image)?;
    // SAFETY: one thread, and nothing here depends on what the old mount namespace shares.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) }
        .step("make a mount namespace")?;
    mount_change(
        "/",
        MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
    )
    .step("make mounts private")?;
    make_stage(&options)?;
    let ids = idmap::user_namespace(options.uid_base)?;
    mount_disk(&device.path, &ids)?;
    mount_lower(&options.lower, &ids)?;
    mount_overlay(options.uid_base)?;
    let listener = socket::listen_at(&options.socket)?;
    become_runc(&options, listener)
}

fn parse(mut args: lexopt::Parser) -> Result<Options, Failure> {
    let mut cgroups = Vec::new();
    let (mut id, mut bundle, mut stage, mut disk, mut lower) = (None, None, None, None, None);
    let (mut uid_base, mut socket, mut runc, mut runc_root) = (None, None, None, None);
    while let Some(arg) = args.next()? {
        match arg {
            Long("cgroup") => cgroups.push(args.value()?),
            Long("id") => id = Some(args.value()?),
            Long("bundle") => bundle = Some(args.value()?.into()),
            Long("stage") => stage = Some(args.value()?.into()),
            Long("disk") => disk = Some(args.value()?),
            Long("lower") => lower = Some(args.value()?.into()),
            Long("uid-base") => uid_base = Some(args.value()?.parse()?),
            Long("socket") => socket = Some(args.value()?),
            Long("runc") => runc = Some(args.value()?),
            Long("runc-root") => runc_root = Some(args.value()?),
            other => return Err(other.unexpected().into()),
        }
    }
    let missing = |name: &str| crate::failure::usage(&format!("--{name} is missing"));
    Ok(Options {
        cgroups,
        id: id.ok_or_else(|| missing("id"))?,
        bundle: bundle.ok_or_else(|| missing("bundle"))?,
        stage: stage.ok_or_else(|| missing("stage"))?,
        disk: disk.ok_or_else(|| missing("disk"))?,
        lower: lower.ok_or_else(|| missing("lower"))?,
        uid_base: uid_base.ok_or_else(|| missing("uid-base"))?,
        socket: socket.ok_or_else(|| missing("socket"))?,
        runc: runc.ok_or_else(|| missing("runc"))?,
        runc_root: runc_root.ok_or_else(|| missing("runc-root"))?,
    })
}

/// A small file system in memory with the places to mount at and the three files of /etc. It becomes the working
/// directory, so that no option of a later mount needs an absolute path with its commas and colons.
fn make_stage(options: &Options) -> Result<(), Failure> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("stage", &options.stage, "tmpfs", flags, STAGE_OPTIONS).step("mount the stage")?;
    rustix::process::chdir(&options.stage).step("enter the stage")?;
    for directory in ["disk", "lower", "root", "etc"] {
        mkdir(directory, Mode::from_raw_mode(0o755)).step("furnish the stage")?;
    }
    for name in ETC_FILES {
        let file = Path::new("etc").join(name);
        std::fs::copy(options.bundle.join("etc").join(name), &file).step("copy a file of /etc")?;
        chown(
            &file,
            Some(Uid::from_raw(options.uid_base)),
            Some(Gid::from_raw(options.uid_base)),
        )
        .step("give a file of /etc to the machine")?;
    }
    Ok(())
}

fn mount_disk(device: &str, ids: &OwnedFd) -> Result<(), Failure> {
    let context = fsopen("ext4", FsOpenFlags::FSOPEN_CLOEXEC).step("open ext4")?;
    fsconfig_set_string(&context, "source", device).step("name the disk")?;
    for flag in ["discard", "noinit_itable"] {
        fsconfig_set_flag(&context, flag).step(flag)?;
    }
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

fn mount_lower(lower: &Path, ids: &OwnedFd) -> Result<(), Failure> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let tree = open_tree(CWD, lower, flags).step("open the image")?;
    let attributes = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    idmap::apply(&tree, ids, attributes).step("shift the image's ids")?;
    attach(&tree, "lower")
}

/// On a full disk, the spare files make way for what overlayfs needs.
fn mount_overlay(uid_base: u32) -> Result<(), Failure> {
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

/// Overlayfs writes with the rights of whoever opened it, and the right to exceed resource limits would take the
/// machine past those of the disk. Executing runc brings the capability back.
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

/// The machine's PID 1 inherits runc's standard streams, which therefore lead nowhere, and descriptor 3. What runc
/// has to say is in its log, beside the bundle's config.json.
fn become_runc(options: &Options, listener: OwnedFd) -> Result<Infallible, Failure> {
    let program = Path::new(&options.runc);
    let null =
        open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).step("open /dev/null")?;
    let own_stderr =
        rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stderr(), 10).step("keep standard error")?;
    rustix::process::chdir("/").step("leave the stage")?;
    let mut command = Command::new(program);
    command
        .arg("--root")
        .arg(&options.runc_root)
        .arg("--log")
        .arg(options.bundle.join("runc.log"))
        .args(["run", "--detach", "--preserve-fds", "1", "--bundle"])
        .arg(&options.bundle)
        .arg(&options.id)
        .env_clear();
    donate(listener)?;
    rustix::stdio::dup2_stdin(&null).step("close standard input")?;
    rustix::stdio::dup2_stdout(&null).step("close standard output")?;
    rustix::stdio::dup2_stderr(&null).step("close standard error")?;
    let error = command.exec();
    rustix::stdio::dup2_stderr(&own_stderr).step("restore standard error")?;
    Err(error).step("execute runc")
}

/// Puts the socket at descriptor 3, open across execution; every other descriptor closes by itself.
fn donate(listener: OwnedFd) -> Result<(), Failure> {
    use std::os::fd::{AsRawFd, FromRawFd};
    const AGENT_SOCKET: i32 = 3;
    if listener.as_raw_fd() == AGENT_SOCKET {
        rustix::io::fcntl_setfd(&listener, rustix::io::FdFlags::empty())
            .step("donate the agent's socket")?;
        std::mem::forget(listener);
        return Ok(());
    }
    // SAFETY: descriptor 3 is the image's or free, and is never used again; forgetting it below keeps it open.
    let mut target = unsafe { OwnedFd::from_raw_fd(AGENT_SOCKET) };
    rustix::io::dup2(&listener, &mut target).step("donate the agent's socket")?;
    std::mem::forget(target);
    Ok(())
}
