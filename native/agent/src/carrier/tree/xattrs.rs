//! The extended attributes that an archive keeps: attributes of users, among them an overlay's own; file
//! capabilities; access lists. Others are the kernel's or the host's.

use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fsetxattr};
use rustix::io::Errno;
use std::os::fd::AsFd;

use crate::carrier::faults::shown;
use crate::carrier::tar::damage::damaged;
use crate::carrier::tar::entry::Xattr;
use crate::carrier::tar::writer::MOST_RECORD_BYTES;
use crate::wire::fault::{Code, Fault};

/// Linux's own bounds, of a list of names and of a value.
const LIST_BYTES: usize = 64 << 10;
const VALUE_BYTES: usize = 64 << 10;

/// Access for others than owner and group: to a file or folder, and to new entries of a folder.
pub const ACCESS_LISTS: [&[u8]; 2] = [b"system.posix_acl_access", b"system.posix_acl_default"];

pub fn is_kept(name: &[u8]) -> bool {
    name.starts_with(b"user.") || name == b"security.capability" || ACCESS_LISTS.contains(&name)
}

/// Linux takes no longer list.
pub fn is_access_list(name: &[u8], value: &[u8]) -> bool {
    ACCESS_LISTS.contains(&name) && value.len() <= VALUE_BYTES
}

/// Fails with TOOBIG where an archive does not take as many: some file systems have 64 KiB for each of thousands.
pub fn read(file: impl AsFd) -> Result<Vec<Xattr>, Errno> {
    read_within(MOST_RECORD_BYTES, file)
}

pub(super) fn read_within(most: usize, file: impl AsFd) -> Result<Vec<Xattr>, Errno> {
    let mut bytes = 0;
    let mut list = vec![0; LIST_BYTES];
    let length = match flistxattr(&file, &mut list[..]) {
        Ok(length) => length,
        Err(Errno::NOTSUP) => 0,
        Err(errno) => return Err(errno),
    };
    let mut found = Vec::new();
    for name in list[..length].split(|byte| *byte == 0) {
        if !is_kept(name) {
            continue;
        }
        let mut value = vec![0; VALUE_BYTES];
        let length = fgetxattr(&file, name, &mut value[..])?;
        value.truncate(length);
        value.shrink_to_fit();
        bytes += name.len() + length;
        if bytes > most {
            return Err(Errno::TOOBIG);
        }
        found.push((name.to_vec(), value));
    }
    Ok(found)
}

/// @param path Named in the error when the disk refuses an attribute.
pub fn write<'a>(
    file: impl AsFd,
    xattrs: impl IntoIterator<Item = &'a Xattr>,
    path: &[u8],
) -> Result<(), Fault> {
    for (name, value) in xattrs {
        if !is_kept(name) {
            return Err(damaged("it has an attribute that no disk has"));
        }
        fsetxattr(&file, &name[..], value, XattrFlags::empty()).map_err(|errno| {
            let detail = format!(
                "The disk does not take the attribute {} of '{}': {errno}.",
                String::from_utf8_lossy(name),
                shown(path)
            );
            Fault::new(Code::FailedPrecondition, detail)
        })?;
    }
    Ok(())
}
