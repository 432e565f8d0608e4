//! Metadata of a file that its users give it: its extended attributes of the name space `user`.

use rustix::fs::{XattrFlags, getxattr, listxattr, removexattr, setxattr};
use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd};

use crate::files::path_text::{to_bytes, to_text};
use crate::wire::fault::Fault;

/// Names without their name space.
pub type Metadata = BTreeMap<String, String>;

const SPACE: &[u8] = b"user.";
/// Linux's own bound of all names of a file.
const LIST_BYTES: usize = 64 << 10;
const MAX_ENTRIES: usize = 64;
/// Of a file's names and values together.
const MAX_BYTES: usize = 8 << 10;
/// Linux's own bound, with the name space.
const MAX_NAME_BYTES: usize = 255;

/// Fails before anything happens when a file could not have it.
pub fn check(metadata: &Metadata) -> Result<(), Fault> {
    let invalid = |detail| Err(Fault::invalid("metadata", detail));
    let bytes: usize = metadata
        .iter()
        .map(|(name, value)| name.len() + value.len())
        .sum();
    if metadata.len() > MAX_ENTRIES || bytes > MAX_BYTES {
        return invalid(format!(
            "Metadata has at most {MAX_ENTRIES} entries, and {MAX_BYTES} bytes together."
        ));
    }
    for name in metadata.keys() {
        if name.is_empty() || name.contains('\0') || SPACE.len() + name.len() > MAX_NAME_BYTES {
            return invalid(format!("'{name}' is not the name of metadata."));
        }
    }
    Ok(())
}

/// What does not fit the bounds is left out.
pub fn of(file: impl AsFd) -> Metadata {
    let path = path_of(file);
    let mut metadata = Metadata::new();
    let mut bytes = 0;
    for name in names(&path) {
        let mut value = [0; MAX_BYTES];
        let Ok(length) = getxattr(&path, &name[..], &mut value[..]) else {
            continue;
        };
        bytes += name.len() - SPACE.len() + length;
        if metadata.len() == MAX_ENTRIES || bytes > MAX_BYTES {
            break;
        }
        metadata.insert(to_text(&name[SPACE.len()..]), to_text(&value[..length]));
    }
    metadata
}

/// Replaces all earlier metadata.
pub fn replace(file: impl AsFd, metadata: &Metadata) -> rustix::io::Result<()> {
    let path = path_of(file);
    for name in names(&path) {
        let text = to_text(&name[SPACE.len()..]);
        if !metadata.contains_key(&text) {
            removexattr(&path, &name[..])?;
        }
    }
    for (name, value) in metadata {
        let name = [SPACE, &to_bytes(name)].concat();
        setxattr(&path, &name[..], &to_bytes(value), XattrFlags::empty())?;
    }
    Ok(())
}

/// A file system without attributes has none.
fn names(path: &str) -> Vec<Vec<u8>> {
    let mut list = vec![0; LIST_BYTES];
    let length = listxattr(path, &mut list[..]).unwrap_or_default();
    list[..length]
        .split(|byte| *byte == 0)
        .filter(|name| name.len() > SPACE.len() && name.starts_with(SPACE))
        .map(<[u8]>::to_vec)
        .collect()
}

/// Attributes are reached by a path alone where a file is open as a place.
fn path_of(file: impl AsFd) -> String {
    format!("/proc/self/fd/{}", file.as_fd().as_raw_fd())
}
