//! Errors of packing and unpacking, with the names of the files at fault.

use rustix::io::Errno;
use std::io;

use crate::wire::fault::{Code, Fault};

/// Bytes of a path in an error frame. The frame has 64 KiB, and a path of 900 levels may be longer.
const SHOWN_BYTES: usize = 1 << 10;

/// @param path Relative to the disk's root.
pub fn failed(errno: Errno, path: &[u8]) -> Fault {
    if matches!(errno, Errno::NOSPC | Errno::DQUOT) {
        return no_room();
    }
    Fault::from_errno(errno, &shown(path))
}

pub fn failed_content(error: &io::Error, path: &[u8]) -> Fault {
    match Errno::from_io_error(error) {
        Some(errno) => failed(errno, path),
        None => {
            let detail = format!("'{}' cannot be read or written: {error}.", shown(path));
            Fault::new(Code::FailedPrecondition, detail)
        }
    }
}

/// Returns the end of a long path, which names the file itself.
pub fn shown(path: &[u8]) -> String {
    let is_inside = |byte: &u8| matches!(byte, 0x80..0xc0);
    match path.len().checked_sub(SHOWN_BYTES) {
        None if path.is_empty() => "/".to_owned(),
        None | Some(0) => String::from_utf8_lossy(path).into_owned(),
        Some(cut) => {
            // A character has at most three bytes after its first.
            let rest = path[cut..]
                .iter()
                .take(3)
                .take_while(|byte| is_inside(byte));
            let begin = cut + rest.count();
            format!("…{}", String::from_utf8_lossy(&path[begin..]))
        }
    }
}

/// Reports a full disk without the usual advice to delete files or to grow it, which is impossible while the
/// archive is unpacked.
fn no_room() -> Fault {
    let detail = "The new disk has no room for all that is in the archive.";
    let hint = "The archive is as it was, and nothing in it can be changed. Ask the operator for disks of this size that \
                hold more, from another storage class, say.";
    Fault::new(Code::ResourceExhausted, detail).hint(hint)
}

pub fn too_many_attributes(path: &[u8]) -> Fault {
    let detail = format!(
        "'{}' has more extended attributes than an archive takes.",
        shown(path)
    );
    let hint = "Start the sandbox and remove some of its attributes.";
    Fault::new(Code::FailedPrecondition, detail).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_path_the_end_is_shown() {
        assert_eq!(shown(b""), "/");
        assert_eq!(shown(b"a/b"), "a/b");
        assert_eq!(shown(&[b'a'; SHOWN_BYTES]), "a".repeat(SHOWN_BYTES));
        let path = format!("{}/{}/last", "x".repeat(70_000), "ä".repeat(SHOWN_BYTES));
        let text = shown(path.as_bytes());
        assert!(text.starts_with("…ä") && text.ends_with("ä/last"), "{text}");
        assert!(text.len() <= SHOWN_BYTES + "…".len());
        // Each byte that is not UTF-8 takes three.
        assert!(shown(&[0x80; 70_000]).len() < 4 * SHOWN_BYTES);
    }
}
