//! Paths of /proc and /sys that a machine sees empty, or cannot write. All are resolved from this process's
//! own mounts, in which the image has no part.

use super::kernel_views::Views;
use super::place::{in_view, required_in_view};
use super::trees::{self, Setting};
use crate::failure::{Failure, Step, failed};
use rustix::fs::{FileType, fstat, fstatfs, makedev};
use rustix::io::Errno;
use rustix::mount::MountAttrFlags;
use sandhaven_filter::MASKED_PATHS;
use std::os::fd::OwnedFd;

const READ_ONLY: [&str; 4] = ["bus", "irq", "sys", "sysrq-trigger"];

/// Paths that a kernel lacks are skipped.
/// @param dev The machine's /dev.
pub fn hide(views: &Views, dev: &OwnedFd) -> Result<(), Failure> {
    check_procfs(&views.proc)?;
    for name in READ_ONLY {
        if let Some(place) = in_view(&views.proc, name)? {
            make_read_only(&place).step(format!("make /proc/{name} read-only"))?;
        }
    }
    let null = null_device(dev)?;
    let mut empty = None;
    for path in MASKED_PATHS {
        let found = match path.strip_prefix("/proc/") {
            Some(name) => in_view(&views.proc, name)?,
            None => in_view(&views.sys, path.trim_start_matches("/sys/"))?,
        };
        if let Some(place) = found {
            cover(&place, &null, &mut empty).step(format!("hide {path}"))?;
        }
    }
    Ok(())
}

fn check_procfs(proc: &OwnedFd) -> Result<(), Failure> {
    match fstatfs(proc).step("examine /proc")?.f_type as u64 {
        kind if kind == rustix::fs::PROC_SUPER_MAGIC as u64 => Ok(()),
        kind => Err(failed(format!("/proc is a file system {kind:#x}"))),
    }
}

/// A device with another number would expose or receive other data (CVE-2025-31133).
fn null_device(dev: &OwnedFd) -> Result<OwnedFd, Failure> {
    let null = required_in_view(dev, "null")?;
    let stat = fstat(&null).step("examine the null device")?;
    let is_device = FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice;
    if is_device && stat.st_rdev == makedev(1, 3) {
        Ok(null)
    } else {
        Err(failed("the null device is none"))
    }
}

fn make_read_only(place: &OwnedFd) -> Result<(), std::io::Error> {
    let tree = trees::clone_open(place)?;
    trees::make_read_only(&tree)?;
    Ok(trees::attach(&tree, place)?)
}

/// One empty folder in memory covers all folders.
/// @param empty None until the first of them.
fn cover(place: &OwnedFd, null: &OwnedFd, empty: &mut Option<OwnedFd>) -> Result<(), Errno> {
    if FileType::from_raw_mode(fstat(place)?.st_mode) != FileType::Directory {
        return trees::attach(trees::clone_open(null)?, place);
    }
    match empty {
        Some(empty) => trees::attach(trees::clone_open(&*empty)?, place),
        None => {
            let settings = [
                Setting::Value("nr_blocks", "1"),
                Setting::Value("nr_inodes", "1"),
                Setting::Flag("ro"),
            ];
            let made = trees::make("tmpfs", &settings, MountAttrFlags::MOUNT_ATTR_RDONLY)?;
            trees::attach(&made, place)?;
            *empty = Some(made);
            Ok(())
        }
    }
}
