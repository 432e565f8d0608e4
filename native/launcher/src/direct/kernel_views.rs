//! The kernel's own file systems in a machine's root: processes, devices, terminals, memory, queues, hardware.

use super::place::{open as open_place, ordinary_folder, required_in_view};
use super::settings::Settings;
use super::shown::Shown;
use super::trees::{self, Setting};
use super::walk::Kind;
use crate::failure::{Failure, Step};
use rustix::fs::{Mode, mkdirat};
use rustix::mount::MountAttrFlags;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;

const NOSUID: MountAttrFlags = MountAttrFlags::MOUNT_ATTR_NOSUID;
const NODEV: MountAttrFlags = MountAttrFlags::MOUNT_ATTR_NODEV;
const NOEXEC: MountAttrFlags = MountAttrFlags::MOUNT_ATTR_NOEXEC;

/// The mounts, each open at the root of its file system.
pub struct Views {
    pub proc: OwnedFd,
    pub sys: OwnedFd,
}

/// Mounts the views, and /dev with its entries.
pub fn show(shown: &Shown, settings: &Settings) -> Result<Views, Failure> {
    let root = &shown.root;
    let proc = view(root, "proc", &[], NOSUID | NODEV | NOEXEC)?;
    trees::attach(
        &shown.dev,
        open_place(root, OsStr::new("/dev"), Kind::Folder)?,
    )
    .step("show the devices")?;
    furnish(&shown.dev, settings)?;
    let read_only = MountAttrFlags::MOUNT_ATTR_RDONLY;
    let sys = view(
        root,
        "sys",
        &[Setting::Flag("ro")],
        NOSUID | NODEV | NOEXEC | read_only,
    )?;
    show_groups(required_in_view(&sys, "fs")?, shown.groups.as_ref())?;
    Ok(Views { proc, sys })
}

/// Below /sys/fs the machine sees only its cgroups, where language runtimes read their limits.
/// @param gathered None where the machine's group of version 2 is shown directly.
fn show_groups(place: OwnedFd, gathered: Option<&OwnedFd>) -> Result<(), Failure> {
    if let Some(groups) = gathered {
        return trees::attach(groups, place).step("show the cgroups");
    }
    let folder = [Setting::Value("mode", "755"), Setting::Value("size", "4k")];
    let folder = trees::make("tmpfs", &folder, NOSUID | NODEV | NOEXEC).step("make /sys/fs")?;
    mkdirat(&folder, "cgroup", Mode::from_raw_mode(0o755)).step("make /sys/fs/cgroup")?;
    trees::make_read_only(&folder).step("make /sys/fs read-only")?;
    trees::attach(&folder, place).step("mount /sys/fs")?;
    let read_only = MountAttrFlags::MOUNT_ATTR_RDONLY;
    let group = trees::make("cgroup2", &[], NOSUID | NODEV | NOEXEC | read_only)
        .step("make the view of the cgroup")?;
    trees::attach(group, required_in_view(&folder, "cgroup")?).step("mount /sys/fs/cgroup")
}

fn view(
    root: &OwnedFd,
    name: &str,
    settings: &[Setting<'_>],
    attributes: MountAttrFlags,
) -> Result<OwnedFd, Failure> {
    let kind = if name == "sys" { "sysfs" } else { name };
    let place = ordinary_folder(root, name)?;
    let mount = trees::make(kind, settings, attributes).step(format!("make {kind}"))?;
    trees::attach(&mount, place).step(format!("mount /{name}"))?;
    Ok(mount)
}

fn furnish(dev: &OwnedFd, settings: &Settings) -> Result<(), Failure> {
    let (ptys, bytes) = (settings.ptys.to_string(), settings.shm_bytes.to_string());
    let terminals = [
        Setting::Flag("newinstance"),
        Setting::Value("ptmxmode", "0666"),
        Setting::Value("mode", "0620"),
        Setting::Value("gid", "5"),
        Setting::Value("max", &ptys),
    ];
    let shared = [
        Setting::Value("mode", "1777"),
        Setting::Value("size", &bytes),
    ];
    let mounts: [(_, _, &[_], _); 3] = [
        ("pts", "devpts", &terminals, NOSUID | NOEXEC),
        ("shm", "tmpfs", &shared, NOSUID | NODEV),
        ("mqueue", "mqueue", &[], NOSUID | NODEV | NOEXEC),
    ];
    for (name, kind, options, attributes) in mounts {
        let place = required_in_view(dev, name)?;
        trees::make(kind, options, attributes)
            .and_then(|mount| trees::attach(mount, place))
            .step(format!("mount /dev/{name}"))?;
    }
    Ok(())
}
