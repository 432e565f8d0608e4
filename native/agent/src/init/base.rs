//! The folder in which the relative paths of a call begin: the sandbox root, or the home of the user whom the call is
//! made as.

use super::boot::SANDBOX_ROOT;

#[derive(Clone, Debug)]
pub struct Base {
    folder: String,
    is_home: bool,
}

impl Base {
    pub fn sandbox_root() -> Self {
        Self {
            folder: SANDBOX_ROOT.to_owned(),
            is_home: false,
        }
    }

    /// `~` and `~/…` mean this folder.
    pub fn home(folder: &str) -> Self {
        Self {
            folder: folder.to_owned(),
            is_home: true,
        }
    }

    pub fn folder(&self) -> &str {
        &self.folder
    }

    pub fn absolute(&self, path: &[u8]) -> Vec<u8> {
        let below = match path {
            [b'/', ..] => return path.to_vec(),
            [b'~'] if self.is_home => b"",
            [b'~', b'/', rest @ ..] if self.is_home => rest,
            path => path,
        };
        [self.folder.as_bytes(), b"/", below].concat()
    }

    /// The part of a shown path before what was found below `path`: nothing at the base, else the folder and a slash.
    pub fn shown_prefix(&self, path: &[u8]) -> Vec<u8> {
        let parts = parts_of(path);
        let own = parts_of(self.folder.as_bytes());
        let is_inside = !parts.contains(&&b".."[..]);
        let below = parts.strip_prefix(own.as_slice()).filter(|_| is_inside);
        let mut shown = below.unwrap_or(&parts).join(&b'/');
        if below.is_none() {
            shown.insert(0, b'/');
        }
        if !matches!(shown.as_slice(), b"" | b"/") {
            shown.push(b'/');
        }
        shown
    }
}

fn parts_of(path: &[u8]) -> Vec<&[u8]> {
    path.split(|&byte| byte == b'/')
        .filter(|part| !part.is_empty() && *part != b".")
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn relative_paths_start_at_the_base() {
        let (root, home) = (Base::sandbox_root(), Base::home("/home/ann"));
        for (path, of_root, of_home) in [
            ("a/b", "/workspace/a/b", "/home/ann/a/b"),
            ("", "/workspace/", "/home/ann/"),
            ("/tmp", "/tmp", "/tmp"),
            ("~", "/workspace/~", "/home/ann/"),
            ("~/a", "/workspace/~/a", "/home/ann/a"),
            ("~ann", "/workspace/~ann", "/home/ann/~ann"),
        ] {
            assert_eq!(text(root.absolute(path.as_bytes())), of_root, "{path}");
            assert_eq!(text(home.absolute(path.as_bytes())), of_home, "{path}");
        }
    }

    #[test]
    fn paths_inside_the_base_are_shown_relative_to_it() {
        let (root, home) = (Base::sandbox_root(), Base::home("/home/ann"));
        for (path, of_root, of_home) in [
            ("/workspace/.", "", "/workspace/"),
            ("/workspace/a//b/", "a/b/", "/workspace/a/b/"),
            ("/home/ann/a", "/home/ann/a/", "a/"),
            ("/", "/", "/"),
            ("/etc", "/etc/", "/etc/"),
            (
                "/workspace/../etc",
                "/workspace/../etc/",
                "/workspace/../etc/",
            ),
            ("/workspaces", "/workspaces/", "/workspaces/"),
        ] {
            assert_eq!(text(root.shown_prefix(path.as_bytes())), of_root, "{path}");
            assert_eq!(text(home.shown_prefix(path.as_bytes())), of_home, "{path}");
        }
        assert_eq!(text(Base::home("/").shown_prefix(b"/etc")), "etc/");
    }
}
