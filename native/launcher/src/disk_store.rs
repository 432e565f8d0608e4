//! `mount-disk-store`: mounts the volume in which all disks lie, where the data directory's own file system has no reflinks.
//!
//! Invariant: one loop device serves the volume. It holds the lock of the file (`image.rs`) for as long as anything is mounted
//! of it or any machine has a disk open in it, in whatever mount namespace: whoever finds the lock taken mounts that device
//! once more, and never attaches the file a second time.

use crate::failure::{Failure, Step, failed, usage};
use crate::image::open_locked;
use crate::loop_device::{self, LoopDevice, Queue};
use rustix::fs::{FileType, Stat, stat};
use rustix::mount::{MountFlags, mount};
use std::ffi::{CStr, OsString};
use std::path::Path;
use std::time::Duration;

/// Nothing in it is executed, and what machines have set-uid lies in file systems of their own. `discard` gives the blocks of
/// deleted disks back to the host.
const OPTIONS: &CStr = c"discard";
const ATTEMPTS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(50);

/// Does nothing where the volume is mounted there already, but to take a new size of the file; refuses a folder where
/// something else is mounted.
pub fn run(mut args: lexopt::Parser) -> Result<(), Failure> {
    let (file, folder) = (next(&mut args)?, next(&mut args)?);
    let (file, folder) = (Path::new(&file), Path::new(&folder));
    let device = device_of(file)?;
    device.take_size()?;
    let found = stat(folder).step("find the mount point")?;
    let parent = stat(folder.join("..")).step("find the data directory")?;
    if found.st_dev == parent.st_dev {
        let flags =
            MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::NOATIME;
        return mount(&device.path, folder, "xfs", flags, OPTIONS).step("mount the volume");
    }
    if is_of(&found, &device.path)? {
        return Ok(());
    }
    Err(failed("another file system is mounted there"))
}

/// Takes a new device, or the present one. A device that is just being freed is neither, for a moment.
fn device_of(file: &Path) -> Result<LoopDevice, Failure> {
    let mut attempt = 0;
    loop {
        let refusal = match open_locked(file.as_os_str()) {
            Ok(image) => return loop_device::attach(&image, Queue::Shared),
            Err(refusal) => refusal,
        };
        let present = loop_device::find(&stat(file).step("find the volume")?)?;
        match present {
            Some(device) => return Ok(device),
            None if attempt == ATTEMPTS => return Err(refusal),
            None => std::thread::sleep(PAUSE),
        }
        attempt += 1;
    }
}

/// XFS numbers its files by the device that it is on.
fn is_of(found: &Stat, device: &str) -> Result<bool, Failure> {
    let node = stat(device).step("find the loop device")?;
    let is_block = FileType::from_raw_mode(node.st_mode) == FileType::BlockDevice;
    Ok(is_block && node.st_rdev == found.st_dev)
}

fn next(args: &mut lexopt::Parser) -> Result<OsString, Failure> {
    args.value()
        .map_err(|_| usage("expected the file of the volume and its mount point"))
}
