//! Folders on the way through a tree, opened below its top without following links, with the kind of their file system.

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, fstat, fstatfs, openat, openat2, statat,
};
use rustix::io::Errno;
use std::os::fd::{AsFd, OwnedFd};

use crate::files::location::file_type;
use crate::files::reach;

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

/// File systems whose files the kernel generates: proc, sysfs, devpts, cgroups, debugfs, tracefs, securityfs,
/// bpf, mqueue.
const MADE_UP: [i64; 10] = [
    0x9fa0,
    0x6265_6572,
    0x1cd1,
    0x0027_e0eb,
    0x6367_7270,
    0x6462_6720,
    0x7472_6163,
    0x7363_6673,
    0xcafe_4a11,
    0x1980_0202,
];

#[derive(Clone, Copy)]
pub struct FileSystem {
    device: u64,
    /// True where the kernel generates files on reading: sizes and short reads mean nothing there.
    pub is_made_up: bool,
}

pub struct Folder {
    pub open: OwnedFd,
    /// Its path below the top.
    pub below: Vec<u8>,
    pub system: FileSystem,
}

impl Folder {
    /// @param parent The file system of the folder that holds it.
    pub fn open(
        top: &OwnedFd,
        below: Vec<u8>,
        parent: Option<FileSystem>,
    ) -> rustix::io::Result<Self> {
        let open = open_below(top, &below)?;
        let device = fstat(&open)?.st_dev;
        let system = match parent {
            Some(parent) if parent.device == device => parent,
            _ => FileSystem {
                device,
                is_made_up: is_made_up(&open),
            },
        };
        Ok(Self {
            open,
            below,
            system,
        })
    }
}

pub fn is_made_up(folder: &OwnedFd) -> bool {
    fstatfs(folder).is_ok_and(|system| MADE_UP.contains(&(system.f_type & 0xffff_ffff)))
}

/// Follows links: the caller names this one.
pub fn open_top(path: &[u8]) -> rustix::io::Result<OwnedFd> {
    reach::open(
        CWD,
        path,
        FOLDER.difference(OFlags::NOFOLLOW),
        Mode::empty(),
    )
}

pub fn open_below(top: &OwnedFd, below: &[u8]) -> rustix::io::Result<OwnedFd> {
    let below = if below.is_empty() { b"." } else { below };
    match openat2(top, below, FOLDER, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // Kept from sandboxes by a strict filter, or by an old kernel.
        Err(Errno::NOSYS | Errno::PERM) => openat(top, below, FOLDER, Mode::empty()),
        result => result,
    }
    .and_then(reach::unless_own)
}

pub fn join(below: &[u8], name: &[u8]) -> Vec<u8> {
    if below.is_empty() {
        return name.to_vec();
    }
    [below, b"/", name].concat()
}

/// The type from the folder's listing; from the entry itself where the listing has none.
pub fn kind(folder: impl AsFd, name: impl rustix::path::Arg, known: FileType) -> FileType {
    if known != FileType::Unknown {
        return known;
    }
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
        .map_or(FileType::Unknown, |stat| file_type(&stat))
}
