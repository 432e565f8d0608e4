//! Copies a folder of the image with its owners, modes, times, extended attributes and hard links. The image
//! is not trusted: links are copied as links, and anything but files, folders and links is left out.

use rustix::fs::{
    AtFlags, CWD, Gid, Mode, Timespec, Timestamps, Uid, XattrFlags, chmod, chownat, lgetxattr,
    llistxattr, lsetxattr, symlinkat, utimensat,
};
use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Linux's own bound on a list of names and on a value.
const XATTR_BYTES: usize = 64 << 10;

/// `to` must not exist. A failure leaves a partial copy.
pub fn tree(from: &Path, to: &Path) -> io::Result<()> {
    Copying::default().copy(from, to)
}

#[derive(Default)]
struct Copying {
    /// Copies of files with several names, by device and inode.
    several: HashMap<(u64, u64), PathBuf>,
}

impl Copying {
    fn copy(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let found = fs::symlink_metadata(from)?;
        if found.is_dir() {
            fs::create_dir(to)?;
            for entry in fs::read_dir(from)? {
                let name = entry?.file_name();
                self.copy(&from.join(&name), &to.join(&name))?;
            }
        } else if self.is_linked(&found, to) {
            return Ok(());
        } else if found.is_file() {
            fs::copy(from, to)?;
        } else if found.is_symlink() {
            symlinkat(fs::read_link(from)?, CWD, to)?;
        } else {
            return Ok(());
        }
        dress(&found, from, to)
    }

    /// Returns false where the file must be copied: at its first name, or because the disk takes no further links.
    fn is_linked(&mut self, found: &Metadata, to: &Path) -> bool {
        if found.nlink() < 2 {
            return false;
        }
        let key = (found.dev(), found.ino());
        if let Some(first) = self.several.get(&key) {
            return fs::hard_link(first, to).is_ok();
        }
        self.several.insert(key, to.to_path_buf());
        false
    }
}

/// Last, since entries of a folder change its times, and a new owner clears set-user-id bits and capabilities.
fn dress(found: &Metadata, from: &Path, to: &Path) -> io::Result<()> {
    let (owner, group) = (Uid::from_raw(found.uid()), Gid::from_raw(found.gid()));
    chownat(CWD, to, Some(owner), Some(group), AtFlags::SYMLINK_NOFOLLOW)?;
    if !found.is_symlink() {
        chmod(to, Mode::from_raw_mode(found.mode()))?;
        copy_xattrs(from, to);
    }
    let time = |tv_sec, tv_nsec| Timespec { tv_sec, tv_nsec };
    let times = Timestamps {
        last_access: time(found.atime(), found.atime_nsec()),
        last_modification: time(found.mtime(), found.mtime_nsec()),
    };
    utimensat(CWD, to, &times, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(())
}

/// Copies attributes as far as the disk takes them: one without overlays may have none at all. They are not
/// worth a failed start.
fn copy_xattrs(from: &Path, to: &Path) {
    let mut names = vec![0; XATTR_BYTES];
    let length = llistxattr(from, &mut names[..]).unwrap_or(0);
    let mut value = vec![0; XATTR_BYTES];
    for name in names[..length].split(|byte| *byte == 0) {
        if let Ok(length) = lgetxattr(from, name, &mut value[..]) {
            let _ = lsetxattr(to, name, &value[..length], XattrFlags::empty());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn modes_times_attributes_and_links_are_kept() {
        // Not in /tmp, which may be in memory, without attributes of users.
        let scratch = Path::new("/var/tmp").join(format!("copying-{}", std::process::id()));
        let (from, to) = (scratch.join("from"), scratch.join("to"));
        fs::create_dir_all(from.join("inner")).unwrap();
        fs::write(from.join("inner/file"), "content").unwrap();
        chmod(from.join("inner/file"), Mode::from_raw_mode(0o4750)).unwrap();
        symlink("/nowhere", from.join("link")).unwrap();
        let long_ago = Timestamps {
            last_access: Timespec {
                tv_sec: 5,
                tv_nsec: 0,
            },
            last_modification: Timespec {
                tv_sec: 6,
                tv_nsec: 7,
            },
        };
        fs::hard_link(from.join("inner/file"), from.join("second")).unwrap();
        for path in ["inner", "inner/file"] {
            lsetxattr(from.join(path), "user.name", b"value", XattrFlags::empty()).unwrap();
        }
        utimensat(CWD, from.join("inner"), &long_ago, AtFlags::empty()).unwrap();
        tree(&from, &to).unwrap();
        for path in ["inner", "inner/file", "second"] {
            let mut value = [0; 8];
            let length = lgetxattr(to.join(path), "user.name", &mut value[..]).unwrap();
            assert_eq!(&value[..length], b"value", "{path}");
        }
        let number = |path: &str| fs::metadata(to.join(path)).unwrap().ino();
        assert_eq!(number("inner/file"), number("second"));
        assert_eq!(
            fs::read_to_string(to.join("inner/file")).unwrap(),
            "content"
        );
        assert_eq!(
            fs::metadata(to.join("inner/file")).unwrap().mode() & 0o7777,
            0o4750
        );
        assert_eq!(
            fs::read_link(to.join("link")).unwrap(),
            Path::new("/nowhere")
        );
        let inner = fs::metadata(to.join("inner")).unwrap();
        assert_eq!((inner.mtime(), inner.mtime_nsec()), (6, 7));
        fs::remove_dir_all(&scratch).unwrap();
    }
}
