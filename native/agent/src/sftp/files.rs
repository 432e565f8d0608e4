//! Opens files, reads and writes their bytes, and changes their attributes.

use rustix::fs::{AtFlags, CWD, Gid, Mode, OFlags, Timespec, Timestamps, Uid};
use rustix::io::Errno;
use std::os::fd::{AsFd, OwnedFd};

use super::attributes::Attributes;
use super::failure::Failure;
use crate::files::writing::durable;

const READ: u32 = 0x01;
const WRITE: u32 = 0x02;
const APPEND: u32 = 0x04;
const CREATE: u32 = 0x08;
const TRUNCATE: u32 = 0x10;
const EXCLUSIVE: u32 = 0x20;

const PERMISSION_BITS: u32 = 0o7777;
const DEFAULT_MODE: u32 = 0o666;

pub fn open(path: &[u8], flags: u32, attributes: &Attributes) -> Result<OwnedFd, Failure> {
    let has = |flag| flags & flag != 0;
    let mut how = OFlags::CLOEXEC | OFlags::NOCTTY;
    how |= match (has(READ), has(WRITE)) {
        (true, true) => OFlags::RDWR,
        (false, true) => OFlags::WRONLY,
        _ => OFlags::RDONLY,
    };
    for (flag, meaning) in [
        (APPEND, OFlags::APPEND),
        (CREATE, OFlags::CREATE),
        (TRUNCATE, OFlags::TRUNC),
        (EXCLUSIVE, OFlags::EXCL),
    ] {
        how.set(meaning, has(flag));
    }
    Ok(rustix::fs::open(path, how, mode(attributes, DEFAULT_MODE))?)
}

/// Mode of a new file or folder.
pub fn mode(attributes: &Attributes, default: u32) -> Mode {
    Mode::from_raw_mode(attributes.permissions.unwrap_or(default) & PERMISSION_BITS)
}

/// May be less than there is.
pub fn read(file: &OwnedFd, buffer: &mut [u8], offset: u64) -> Result<usize, Failure> {
    Ok(rustix::io::retry_on_intr(|| {
        rustix::io::pread(file, &mut *buffer, offset)
    })?)
}

pub fn write(file: &OwnedFd, mut data: &[u8], mut offset: u64) -> Result<(), Failure> {
    while !data.is_empty() {
        let written = rustix::io::retry_on_intr(|| rustix::io::pwrite(file, data, offset))?;
        if written == 0 {
            return Err(Errno::IO.into());
        }
        data = &data[written..];
        offset = offset.saturating_add(written as u64);
    }
    Ok(())
}

/// Writes the file to the disk, before the client learns that the file is closed.
pub fn finish(file: &OwnedFd) -> Result<(), Failure> {
    if rustix::fs::fcntl_getfl(file)? & OFlags::RWMODE != OFlags::RDONLY {
        durable::write_out(file)?;
    }
    Ok(())
}

/// Sets all attributes that it can, and fails with the first that it cannot. The owner comes before the mode,
/// since a new owner clears the set-user-id bit.
pub fn set(file: impl AsFd, attributes: &Attributes) -> Result<(), Failure> {
    let file = file.as_fd();
    first_failure([
        attributes
            .size
            .map(|size| rustix::fs::ftruncate(file, size)),
        attributes
            .owner
            .map(|(user, group)| rustix::fs::fchown(file, user_id(user), group_id(group))),
        attributes
            .permissions
            .map(|_| rustix::fs::fchmod(file, mode(attributes, 0))),
        attributes
            .times
            .map(|times| rustix::fs::futimens(file, &timestamps(times))),
    ])
}

/// As `set`, for a path. A link itself has no size and no mode to change.
pub fn set_path(path: &[u8], attributes: &Attributes, follow: bool) -> Result<(), Failure> {
    let flags = if follow {
        AtFlags::empty()
    } else {
        AtFlags::SYMLINK_NOFOLLOW
    };
    first_failure([
        attributes.size.map(|size| {
            let nofollow = if follow {
                OFlags::empty()
            } else {
                OFlags::NOFOLLOW
            };
            let how = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOCTTY | nofollow;
            let file = rustix::fs::open(path, how, Mode::empty())?;
            rustix::fs::ftruncate(file, size)
        }),
        attributes.owner.map(|(user, group)| {
            rustix::fs::chownat(CWD, path, user_id(user), group_id(group), flags)
        }),
        attributes
            .permissions
            .map(|_| rustix::fs::chmodat(CWD, path, mode(attributes, 0), flags)),
        attributes
            .times
            .map(|times| rustix::fs::utimensat(CWD, path, &timestamps(times), flags)),
    ])
}

fn first_failure<const N: usize>(results: [Option<Result<(), Errno>>; N]) -> Result<(), Failure> {
    Ok(results
        .into_iter()
        .flatten()
        .collect::<Result<(), Errno>>()?)
}

/// The largest number is none, and leaves the user as it is.
fn user_id(raw: u32) -> Option<Uid> {
    (raw != u32::MAX).then(|| Uid::from_raw(raw))
}

fn group_id(raw: u32) -> Option<Gid> {
    (raw != u32::MAX).then(|| Gid::from_raw(raw))
}

fn timestamps((access, change): (u32, u32)) -> Timestamps {
    let at = |seconds: u32| Timespec {
        tv_sec: seconds.into(),
        tv_nsec: 0,
    };
    Timestamps {
        last_access: at(access),
        last_modification: at(change),
    }
}
