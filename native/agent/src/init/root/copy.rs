//! Copies a folder of the image with its owners, modes and times. The image is not trusted: its links are copied as
//! links, and whatever is no file, folder or link is left out.

use rustix::fs::{
    AtFlags, CWD, Gid, Mode, Timespec, Timestamps, Uid, chmod, chownat, symlinkat, utimensat,
};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// `to` must not exist. What is half made stays where it fails.
pub fn tree(from: &Path, to: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(from)?;
    if found.is_dir() {
        fs::create_dir(to)?;
        for entry in fs::read_dir(from)? {
            let name = entry?.file_name();
            tree(&from.join(&name), &to.join(&name))?;
        }
    } else if found.is_file() {
        fs::copy(from, to)?;
    } else if found.is_symlink() {
        symlinkat(fs::read_link(from)?, CWD, to)?;
    } else {
        return Ok(());
    }
    dress(&found, to)
}

/// Last, since entries of a folder change its times, and a new owner clears set-user-id bits.
fn dress(found: &Metadata, to: &Path) -> io::Result<()> {
    let (owner, group) = (Uid::from_raw(found.uid()), Gid::from_raw(found.gid()));
    chownat(CWD, to, Some(owner), Some(group), AtFlags::SYMLINK_NOFOLLOW)?;
    if !found.is_symlink() {
        chmod(to, Mode::from_raw_mode(found.mode()))?;
    }
    let time = |tv_sec, tv_nsec| Timespec { tv_sec, tv_nsec };
    let times = Timestamps {
        last_access: time(found.atime(), found.atime_nsec()),
        last_modification: time(found.mtime(), found.mtime_nsec()),
    };
    utimensat(CWD, to, &times, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn modes_times_and_links_are_kept() {
        let scratch = std::env::temp_dir().join(format!("copying-{}", std::process::id()));
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
        utimensat(CWD, from.join("inner"), &long_ago, AtFlags::empty()).unwrap();
        tree(&from, &to).unwrap();
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
