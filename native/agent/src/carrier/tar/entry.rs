//! A file, folder or other thing of the disk, as an archive describes it.

use rustix::fs::Stat;

use super::holes::Part;

/// Name and value.
pub type Xattr = (Vec<u8>, Vec<u8>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Size, and the parts that are not holes, whose content the archive has.
    File {
        size: u64,
        parts: Vec<Part>,
    },
    /// Another name (hard link) of the entry with this path.
    Link(Vec<u8>),
    Symlink(Vec<u8>),
    Folder,
    Fifo,
    /// The character device 0/0, with which an overlay hides a name of its lower layer.
    Whiteout,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// Permissions, set-id and sticky bits.
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    /// Seconds since the epoch, and nanoseconds.
    pub modified: (i64, u32),
    pub xattrs: Vec<Xattr>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Relative to the disk's root, without a slash at either end; empty for the root itself.
    pub path: Vec<u8>,
    pub kind: Kind,
    pub attributes: Attributes,
}

impl Attributes {
    pub fn of(stat: &Stat, xattrs: Vec<Xattr>) -> Self {
        Self {
            mode: stat.st_mode & 0o7777,
            uid: stat.st_uid,
            gid: stat.st_gid,
            modified: (stat.st_mtime, stat.st_mtime_nsec as u32),
            xattrs,
        }
    }
}
