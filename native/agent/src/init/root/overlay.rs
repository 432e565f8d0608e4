//! The overlay of the disk over the image: all changes lie on the disk, as on one machine.

use rustix::fs::{Gid, Mode, StatVfsMountFlags, Uid, chmod, chown, fstatvfs, mkdir, rmdir, stat};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_flag,
    fsconfig_set_string, fsmount, fsopen,
};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use super::spare;

pub enum Outcome {
    /// The mount, which is not attached yet.
    Mounted(OwnedFd),
    /// The kernel, the node or the disk's file system does not support it. The disk is unchanged.
    Impossible(Errno),
}

/// A disk that has a root already gets no other, or its files would be lost: an error ends the start.
pub fn open_on(disk: &Path) -> Result<Outcome, String> {
    let (upper, work, spare) = (disk.join("root"), disk.join("work"), disk.join("spare"));
    furnish(&upper, &work)
        .map_err(|error| format!("cannot prepare {}: {error}", disk.display()))?;
    let mounted = match mount(&upper, &work) {
        Err(Errno::NOSPC | Errno::ROFS) => {
            spare::give(&spare);
            mount(&upper, &work)
        }
        other => other,
    };
    match mounted {
        Ok(root) => {
            spare::keep(&spare);
            Ok(Outcome::Mounted(root))
        }
        Err(errno) => without(&upper, &work, errno)
            .map_err(|errno| format!("the root on {} cannot be mounted: {errno}", disk.display())),
    }
}

/// Fails where the start must be tried again.
fn without(upper: &Path, work: &Path, errno: Errno) -> Result<Outcome, Errno> {
    if is_impossible(errno) && withdraw(upper, work).is_ok() {
        return Ok(Outcome::Impossible(errno));
    }
    Err(errno)
}

/// True for errors that the next attempt would get too: the kernel or the file system has no such mount, or
/// the node forbids it, as AppArmor and SELinux do with ACCESS. Any other error must not leave the disk
/// without an overlay for good. ROFS comes from overlayfs, which cannot use the work folder although there is
/// room.
fn is_impossible(errno: Errno) -> bool {
    matches!(
        errno,
        Errno::NODEV
            | Errno::NOSYS
            | Errno::OPNOTSUPP
            | Errno::INVAL
            | Errno::PERM
            | Errno::ACCESS
            | Errno::LOOP
            | Errno::ROFS
    )
}

/// The work folder is made last, and shows that the upper folder is complete. A work folder alone is the
/// remains of an interrupted removal.
fn furnish(upper: &Path, work: &Path) -> io::Result<()> {
    if stat(work).is_ok() {
        match stat(upper) {
            Err(Errno::NOENT) => fs::remove_dir_all(work)?,
            Err(errno) => return Err(errno.into()),
            Ok(_) => return Ok(()),
        }
    }
    let image = stat("/")?;
    present(mkdir(upper, Mode::RWXU))?;
    // The root that programs see has the owner and the mode of this folder.
    let (owner, group) = (Uid::from_raw(image.st_uid), Gid::from_raw(image.st_gid));
    chown(upper, Some(owner), Some(group))?;
    chmod(upper, Mode::from_raw_mode(image.st_mode))?;
    Ok(present(mkdir(work, Mode::RWXU))?)
}

fn present(made: Result<(), Errno>) -> Result<(), Errno> {
    match made {
        Err(Errno::EXIST) => Ok(()),
        other => other,
    }
}

/// userxattr: in a user namespace overlayfs has no other attributes to write. Renames of the image's folders then fail
/// with EXDEV, since a redirect could be forged.
fn mount(upper: &Path, work: &Path) -> Result<OwnedFd, Errno> {
    let context = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&context, "source", "sandhaven")?;
    fsconfig_set_string(&context, "lowerdir", "/")?;
    fsconfig_set_string(&context, "upperdir", upper)?;
    fsconfig_set_string(&context, "workdir", work)?;
    fsconfig_set_flag(&context, "userxattr")?;
    fsconfig_create(&context)?;
    let (flags, attributes) = (FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty());
    let root = fsmount(&context, flags, attributes)?;
    // Overlayfs falls back to read-only instead of failing, when it cannot use its work folder.
    if fstatvfs(&root)?.f_flag.contains(StatVfsMountFlags::RDONLY) {
        return Err(Errno::ROFS);
    }
    Ok(root)
}

/// Fails where the upper folder has anything in it.
fn withdraw(upper: &Path, work: &Path) -> io::Result<()> {
    rmdir(upper)?;
    fs::remove_dir_all(work)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_disk_is_furnished_once_and_an_interrupted_try_is_finished() {
        let disk = std::env::temp_dir().join(format!("overlay-{}", std::process::id()));
        fs::create_dir(&disk).unwrap();
        let (upper, work) = (disk.join("root"), disk.join("work"));
        let mode = || fs::metadata(&upper).unwrap().mode() & 0o7777;
        let image = fs::metadata("/").unwrap().mode() & 0o7777;
        // As after a kill before the mode was set.
        mkdir(&upper, Mode::from_raw_mode(0o700)).unwrap();
        furnish(&upper, &work).unwrap();
        assert_eq!((mode(), work.is_dir()), (image, true));
        // Changes that programs inside made to their root stay.
        chmod(&upper, Mode::from_raw_mode(0o711)).unwrap();
        furnish(&upper, &work).unwrap();
        assert_eq!(mode(), 0o711);
        fs::write(upper.join("kept"), "kept").unwrap();
        assert!(withdraw(&upper, &work).is_err());
        assert!(upper.join("kept").exists() && work.is_dir());
        fs::remove_file(upper.join("kept")).unwrap();
        withdraw(&upper, &work).unwrap();
        assert_eq!(fs::read_dir(&disk).unwrap().count(), 0);
        fs::remove_dir(&disk).unwrap();
    }

    #[test]
    fn only_what_stays_impossible_leaves_a_disk_without_an_overlay() {
        let disk = std::env::temp_dir().join(format!("impossible-{}", std::process::id()));
        let (upper, work) = (disk.join("root"), disk.join("work"));
        fs::create_dir(&disk).unwrap();
        let left = |errno| {
            furnish(&upper, &work).unwrap();
            let is_left = without(&upper, &work, errno).is_ok();
            assert_eq!(is_left, !upper.exists() && !work.exists(), "{errno}");
            is_left
        };
        for errno in [Errno::NODEV, Errno::INVAL, Errno::PERM, Errno::ROFS] {
            assert!(left(errno), "{errno}");
        }
        for errno in [
            Errno::NOMEM,
            Errno::IO,
            Errno::BUSY,
            Errno::NOSPC,
            Errno::STALE,
            Errno::MFILE,
        ] {
            assert!(!left(errno), "{errno}");
        }
        fs::remove_dir_all(&disk).unwrap();
    }

    #[test]
    fn a_withdrawal_that_was_interrupted_begins_anew() {
        let disk = std::env::temp_dir().join(format!("withdrawn-{}", std::process::id()));
        let (upper, work) = (disk.join("root"), disk.join("work"));
        // As after a kill between the two removals.
        fs::create_dir_all(work.join("work")).unwrap();
        furnish(&upper, &work).unwrap();
        assert_eq!(
            fs::metadata(&upper).unwrap().mode(),
            fs::metadata("/").unwrap().mode()
        );
        assert_eq!(fs::read_dir(&work).unwrap().count(), 0);
        fs::remove_dir_all(&disk).unwrap();
    }
}
