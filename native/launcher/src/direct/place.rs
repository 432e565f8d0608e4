//! Places in the machine's root, opened to mount there. An image is hostile: any of its folders may be a
//! link, to anything. Every path ends inside of the root, and no place is in a view of the kernel, where a
//! mount could hide or expose something.

use super::walk::{self, Kind};
use crate::failure::{Failure, Step, failed};
use rustix::fs::{
    FileType, Mode, OFlags, PROC_SUPER_MAGIC, ResolveFlags, fstat, fstatfs, mkdirat, openat2,
};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};

const SYSFS_MAGIC: u32 = 0x6265_6572;

/// Follows links, and makes missing folders, as the machine's root.
pub fn open(root: &OwnedFd, path: &OsStr, kind: Kind) -> Result<OwnedFd, Failure> {
    let name = || format!("prepare {} in the image", path.display());
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let inside = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    let place = match openat2(root, path, flags, Mode::empty(), inside) {
        Err(Errno::NOENT) => walk::make(root, path, kind),
        other => other,
    }
    .step(name())?;
    match refusal(root, &place, kind).step(name())? {
        None => Ok(place),
        Some(reason) => Err(failed(format!("{}: {reason}", name()))),
    }
}

fn refusal(root: &OwnedFd, place: &OwnedFd, kind: Kind) -> Result<Option<&'static str>, Errno> {
    let (top, found) = (fstat(root)?, fstat(place)?);
    let is_folder = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
    let system = fstatfs(place)?.f_type as u64;
    Ok(
        if (top.st_dev, top.st_ino) == (found.st_dev, found.st_ino) {
            Some("it is the root itself")
        } else if [PROC_SUPER_MAGIC as u64, u64::from(SYSFS_MAGIC)].contains(&system) {
            Some("it is in a file system of the kernel")
        } else if is_folder != (kind == Kind::Folder) {
            Some("a file stands for a folder, or a folder for a file")
        } else {
            None
        },
    )
}

/// Opens a folder of the root for a view of the kernel. It must not be a link to another place.
pub fn ordinary_folder(root: &OwnedFd, name: &str) -> Result<OwnedFd, Failure> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = || openat2(root, name, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS);
    let folder = match open() {
        Err(Errno::NOENT) => mkdirat(root, name, Mode::from_raw_mode(0o755)).and_then(|()| open()),
        other => other,
    };
    folder.step(format!("/{name} is no ordinary folder of the image"))
}

/// Opens a place in a view of the kernel, which this process has mounted and the image has no part in. None
/// where this kernel lacks it.
pub fn in_view(view: impl AsFd, name: &str) -> Result<Option<OwnedFd>, Failure> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    match openat2(view, name, flags, Mode::empty(), beneath) {
        Err(Errno::NOENT) => Ok(None),
        other => other.map(Some).step(format!("find {name}")),
    }
}

pub fn required_in_view(view: impl AsFd, name: &str) -> Result<OwnedFd, Failure> {
    in_view(view, name)?.ok_or_else(|| failed(format!("{name} is not there")))
}
