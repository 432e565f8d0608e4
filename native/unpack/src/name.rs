//! Names in an archive: their place in the image, and names that stand for a removal.

use crate::failure::{Failure, shown, unusable};

const PATH_BYTES: usize = 4095;
const REMOVED: &[u8] = b".wh.";
const EMPTIED: &[u8] = b".wh..wh..opq";
const RESERVED: &[u8] = b".wh..wh.";

#[derive(Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The root itself.
    Root,
    Entry {
        folder: Vec<u8>,
        name: Vec<u8>,
    },
    /// Removes this name from lower layers.
    Removed {
        folder: Vec<u8>,
        name: Vec<u8>,
    },
    /// Removes this folder's content from lower layers.
    Emptied {
        folder: Vec<u8>,
    },
    /// Bookkeeping of old builders.
    Ignored,
}

/// Fails on a name that leads out of the image.
pub fn meaning(path: &[u8]) -> Result<Meaning, Failure> {
    let clean = clean(path)?;
    let Some((folder, name)) = split(&clean) else {
        return Ok(Meaning::Root);
    };
    if name == EMPTIED {
        return Ok(Meaning::Emptied { folder });
    }
    if name.starts_with(RESERVED) {
        return Ok(Meaning::Ignored);
    }
    match name.strip_prefix(REMOVED) {
        None => Ok(Meaning::Entry { folder, name }),
        Some(b"" | b"." | b"..") => Err(leads_out(path)),
        Some(removed) => Ok(Meaning::Removed {
            folder,
            name: removed.to_vec(),
        }),
    }
}

/// Without `.`, `..`, doubled slashes and the one at the front.
pub fn clean(path: &[u8]) -> Result<Vec<u8>, Failure> {
    if path.len() > PATH_BYTES {
        return Err(unusable(format!("{} is too long", shown(path))));
    }
    if path.contains(&0) {
        return Err(unusable(format!("{} holds a NUL", shown(path))));
    }
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(|&byte| byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop().ok_or_else(|| leads_out(path))?;
            }
            _ => parts.push(part),
        }
    }
    Ok(parts.join(&b'/'))
}

/// Folder and last name; None for the root.
pub fn split(clean: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    if clean.is_empty() {
        return None;
    }
    let slash = clean.iter().rposition(|&byte| byte == b'/');
    let name = slash.map_or(0, |at| at + 1);
    Some((clean[..slash.unwrap_or(0)].to_vec(), clean[name..].to_vec()))
}

fn leads_out(path: &[u8]) -> Failure {
    unusable(format!("{} leads out of the image", shown(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(folder: &str, name: &str) -> Meaning {
        let (folder, name) = (folder.into(), name.into());
        Meaning::Entry { folder, name }
    }

    #[test]
    fn paths_are_of_the_image_however_they_are_written() {
        for path in [
            "etc/passwd",
            "/etc/passwd",
            "./etc//passwd/",
            "x/../etc/./passwd",
        ] {
            assert_eq!(
                meaning(path.as_bytes()).unwrap(),
                entry("etc", "passwd"),
                "{path}"
            );
        }
        for path in ["", "/", "./", "a/.."] {
            assert_eq!(meaning(path.as_bytes()).unwrap(), Meaning::Root, "{path}");
        }
        assert_eq!(meaning(b"top").unwrap(), entry("", "top"));
    }

    #[test]
    fn none_leads_out() {
        for path in [
            "..",
            "../x",
            "/../x",
            "a/../../x",
            "a/.wh...",
            ".wh...",
            ".wh..",
            ".wh.",
            "a\0b",
        ] {
            assert!(meaning(path.as_bytes()).is_err(), "{path}");
        }
        assert!(meaning(&[b'a'; 4096]).is_err());
    }

    #[test]
    fn removals_are_told_from_entries() {
        let (folder, name) = (b"a".to_vec(), b"b".to_vec());
        assert_eq!(
            meaning(b"a/.wh.b").unwrap(),
            Meaning::Removed { folder, name }
        );
        let folder = b"a".to_vec();
        assert_eq!(
            meaning(b"a/.wh..wh..opq").unwrap(),
            Meaning::Emptied { folder }
        );
        assert_eq!(meaning(b".wh..wh.plnk").unwrap(), Meaning::Ignored);
        assert_eq!(meaning(b"a/.whb").unwrap(), entry("a", ".whb"));
    }
}
