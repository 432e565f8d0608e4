//! Paths as a listing or a search shows them to its caller.

use crate::init::boot::SANDBOX_ROOT;

/// The part before a found path: nothing at the sandbox root, else the search folder and a slash.
pub fn shown_prefix(path: &[u8]) -> Vec<u8> {
    let mut parts: Vec<&[u8]> = path
        .split(|&byte| byte == b'/')
        .filter(|part| !part.is_empty() && *part != b".")
        .collect();
    let inside =
        parts.first() == Some(&&SANDBOX_ROOT.as_bytes()[1..]) && !parts.contains(&&b".."[..]);
    if inside {
        parts.remove(0);
    }
    let mut shown = parts.join(&b'/');
    if !inside {
        shown.insert(0, b'/');
    }
    if !parts.is_empty() {
        shown.push(b'/');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_inside_the_sandbox_root_are_relative_to_it() {
        for (path, expected) in [
            ("/workspace/.", ""),
            ("/workspace/a//b/", "a/b/"),
            ("/", "/"),
            ("/etc", "/etc/"),
            ("/workspace/../etc", "/workspace/../etc/"),
            ("/workspaces", "/workspaces/"),
        ] {
            assert_eq!(shown_prefix(path.as_bytes()), expected.as_bytes(), "{path}");
        }
    }
}
