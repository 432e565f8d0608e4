//! `slots-folder PATH`: makes the folder of all slots a mount of its own: where the host shares its mounts with other namespaces, those of the spawner's
//! among them (`spawner/mounts.rs`), the pins in it stay here.

use crate::failure::{Failure, Step};
use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use rustix::io::Errno;
use rustix::mount::{MountPropagationFlags, UnmountFlags, mount_bind, mount_change, unmount};
use std::io::Result;
use std::path::Path;

/// A folder with pins is left as it is, since a mount would hide them for good.
pub fn make_own(folder: &Path) -> std::result::Result<(), Failure> {
    if is_mount(folder).step("look at the folder")? || has_pins(folder).step("look for pins")? {
        return Ok(());
    }
    mount_bind(folder, folder).step("make the folder a mount")?;
    mount_change(folder, MountPropagationFlags::PRIVATE).step("make the mount private")
}

/// Once its pins are gone.
pub fn release(folder: &Path) -> Result<()> {
    match unmount(folder, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW) {
        Ok(()) | Err(Errno::INVAL | Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn is_mount(folder: &Path) -> Result<bool> {
    let parent = folder.parent().unwrap_or(folder);
    Ok(mount_of(folder)? != mount_of(parent)?)
}

fn has_pins(folder: &Path) -> Result<bool> {
    let here = mount_of(folder)?;
    for slot in std::fs::read_dir(folder)? {
        let slot = slot?.path();
        for pin in ["user", "net"] {
            // The service keeps its own files beside the slots, and some slots have no pins yet.
            if mount_of(&slot.join(pin)).is_ok_and(|mount| mount != here) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn mount_of(path: &Path) -> Result<u64> {
    Ok(statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID)?.stx_mnt_id)
}
