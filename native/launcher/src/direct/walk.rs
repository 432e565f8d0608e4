//! Resolves and makes a path in a root that the host does not trust, one component at a time. This program
//! follows links by their text, from the root where it begins with a slash. `..` is the folder that was
//! entered before, never the kernel's.

use rustix::fs::{FileType, Mode, OFlags, fstat, mkdirat, openat, readlinkat};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Folder,
    File,
}

/// The kernel's bound.
const MOST_LINKS: usize = 40;
/// The mode with which runc makes missing folders.
const MODE: Mode = Mode::from_raw_mode(0o755);

/// Returns the place, and makes missing folders on the way.
pub fn make(root: &OwnedFd, path: &OsStr, kind: Kind) -> Result<OwnedFd, Errno> {
    let mut entered = vec![root.try_clone().map_err(errno_of)?];
    let mut rest = components(path);
    let mut links = 0;
    while let Some(name) = rest.pop_front() {
        if name == ".." {
            entered.truncate(entered.len().saturating_sub(1).max(1));
            continue;
        }
        let here = entered.last().ok_or(Errno::NOENT)?;
        let found = find_or_make(here, &name, kind == Kind::File && rest.is_empty())?;
        match FileType::from_raw_mode(fstat(&found)?.st_mode) {
            FileType::Symlink => {
                links += 1;
                if links > MOST_LINKS {
                    return Err(Errno::LOOP);
                }
                let text = readlinkat(&found, "", Vec::new())?;
                if text.as_bytes().starts_with(b"/") {
                    entered.truncate(1);
                }
                let mut target = components(OsStr::from_bytes(text.as_bytes()));
                target.append(&mut rest);
                rest = target;
            }
            FileType::Directory => entered.push(found),
            _ if rest.is_empty() => return Ok(found),
            _ => return Err(Errno::NOTDIR),
        }
    }
    entered.pop().ok_or(Errno::NOENT)
}

fn components(path: &OsStr) -> VecDeque<OsString> {
    path.as_bytes()
        .split(|&byte| byte == b'/')
        .filter(|name| !name.is_empty() && *name != b".")
        .map(|name| OsStr::from_bytes(name).to_owned())
        .collect()
}

fn find_or_make(here: impl AsFd, name: &OsStr, is_file: bool) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let find = || openat(&here, name, flags, Mode::empty());
    match find() {
        Err(Errno::NOENT) if is_file => {
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
            openat(&here, name, flags, MODE)?;
            find()
        }
        Err(Errno::NOENT) => mkdirat(&here, name, MODE).and_then(|()| find()),
        other => other,
    }
}

fn errno_of(error: std::io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    fn scratch(name: &str) -> (PathBuf, OwnedFd) {
        let root = std::env::temp_dir().join(format!("walk-{name}-{}", std::process::id()));
        fs::create_dir(&root).expect("a folder");
        let opened = fs::File::open(&root).expect("the folder").into();
        (root, opened)
    }

    fn made(root: &OwnedFd, path: &str, kind: Kind) -> Result<u64, Errno> {
        Ok(fstat(make(root, OsStr::new(path), kind)?)?.st_ino)
    }

    fn number(path: PathBuf) -> u64 {
        use std::os::unix::fs::MetadataExt;
        fs::symlink_metadata(path).expect("is there").ino()
    }

    #[test]
    fn links_lead_to_places_inside_and_never_outside() {
        let (root, opened) = scratch("links");
        symlink("/run/made/by", root.join("absolute")).expect("a link");
        symlink("../../../../outside", root.join("above")).expect("a link");
        let file = made(&opened, "/absolute/link", Kind::File).expect("a file");
        assert_eq!(file, number(root.join("run/made/by/link")));
        let folder = made(&opened, "above/in", Kind::Folder).expect("a folder");
        assert_eq!(folder, number(root.join("outside/in")));
        let top = made(&opened, "/../..", Kind::Folder).expect("the root");
        assert_eq!(top, number(root.clone()));
        fs::remove_dir_all(&root).expect("no trace");
    }

    #[test]
    fn what_cannot_be_a_way_is_refused() {
        let (root, opened) = scratch("refused");
        symlink("b", root.join("a")).expect("a link");
        symlink("a", root.join("b")).expect("a link");
        fs::write(root.join("file"), "").expect("a file");
        assert_eq!(made(&opened, "a/c", Kind::File), Err(Errno::LOOP));
        assert_eq!(made(&opened, "file/c", Kind::File), Err(Errno::NOTDIR));
        fs::remove_dir_all(&root).expect("no trace");
    }
}
