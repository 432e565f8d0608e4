//! Resolves and changes names of files.

use rustix::fs::{CWD, RenameFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use super::failure::Failure;
use crate::users::database;

/// Returns the absolute path without links. The last name need not exist, since clients ask before they make it.
pub fn real(path: &[u8]) -> Result<Vec<u8>, Failure> {
    let path = if path.is_empty() { b"." } else { path };
    let path = Path::new(OsStr::from_bytes(path));
    let resolved = match (path.canonicalize(), path.parent(), path.file_name()) {
        (Err(error), Some(parent), Some(name))
            if error.kind() == std::io::ErrorKind::NotFound && path.symlink_metadata().is_err() =>
        {
            let parent = if parent.as_os_str().is_empty() {
                Path::new(".")
            } else {
                parent
            };
            parent.canonicalize()?.join(name)
        }
        (resolved, _, _) => resolved?,
    };
    Ok(resolved.into_os_string().into_vec())
}

/// `~` and `~user` at its start are home folders.
pub fn expand(path: &[u8]) -> Result<Vec<u8>, Failure> {
    let Some(rest) = path.strip_prefix(b"~") else {
        return real(path);
    };
    let end = rest
        .iter()
        .position(|byte| *byte == b'/')
        .unwrap_or(rest.len());
    let (user, rest) = rest.split_at(end);
    let home = if user.is_empty() {
        database::home(rustix::process::getuid().as_raw()).unwrap_or_else(|| "/".to_owned())
    } else {
        let user = std::str::from_utf8(user).map_err(|_| Errno::NOENT)?;
        database::home_of(user).ok_or(Errno::NOENT)?
    };
    real(&[home.as_bytes(), rest].concat())
}

pub fn rename(from: &[u8], to: &[u8], replace: bool) -> Result<(), Failure> {
    if replace {
        return Ok(rustix::fs::rename(from, to)?);
    }
    match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // A file system without this flag.
        Err(Errno::INVAL | Errno::NOSYS) => match rustix::fs::lstat(to) {
            Err(Errno::NOENT) => Ok(rustix::fs::rename(from, to)?),
            Err(errno) => Err(errno.into()),
            Ok(_) => Err(Errno::EXIST.into()),
        },
        result => Ok(result?),
    }
}
