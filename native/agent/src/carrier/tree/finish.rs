//! Attributes of entries that were made on the disk from an archive.

use rustix::fs::{
    AtFlags, Gid, Mode, Timespec, Timestamps, UTIME_OMIT, Uid, chmodat, chownat, fchmod, fchown,
    futimens, utimensat,
};
use rustix::io::Errno;
use std::os::fd::{AsFd, OwnedFd};

use super::xattrs;
use crate::carrier::faults::failed;
use crate::carrier::tar::entry::{Attributes, Entry, Kind};
use crate::wire::fault::Fault;

/// A change of the owner clears set-id bits and capabilities, so it comes first. The time comes last, after
/// all that would change it.
pub fn finish(file: &impl AsFd, attributes: &Attributes, path: &[u8]) -> Result<(), Fault> {
    let failed = |errno| failed(errno, path);
    let (uid, gid) = owners_of(attributes);
    fchown(file, Some(uid), Some(gid)).map_err(failed)?;
    fchmod(file, Mode::from_raw_mode(attributes.mode)).map_err(failed)?;
    xattrs::write(file, &attributes.xattrs, path)?;
    futimens(file, &times_of(attributes)).map_err(failed)
}

/// Sets the attributes of entries that must not be opened: links, whiteouts, and pipes, which would wait for a writer.
pub fn finish_unopened(parent: &OwnedFd, name: &[u8], entry: &Entry) -> Result<(), Errno> {
    let itself = AtFlags::SYMLINK_NOFOLLOW;
    let (uid, gid) = owners_of(&entry.attributes);
    chownat(parent, name, Some(uid), Some(gid), itself)?;
    if !matches!(entry.kind, Kind::Symlink(_)) {
        let mode = Mode::from_raw_mode(entry.attributes.mode);
        chmodat(parent, name, mode, AtFlags::empty())?;
    }
    utimensat(parent, name, &times_of(&entry.attributes), itself)
}

fn owners_of(attributes: &Attributes) -> (Uid, Gid) {
    (Uid::from_raw(attributes.uid), Gid::from_raw(attributes.gid))
}

fn times_of(attributes: &Attributes) -> Timestamps {
    let (seconds, nanos) = attributes.modified;
    Timestamps {
        last_access: Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_OMIT,
        },
        last_modification: Timespec {
            tv_sec: seconds,
            tv_nsec: nanos.into(),
        },
    }
}
