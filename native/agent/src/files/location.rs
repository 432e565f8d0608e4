//! The last part of a path: an open folder and a name in it. Every later step is relative to that open
//! folder, so replacing a folder of the path by a symbolic link redirects no step.

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, readlinkat, statat};
use rustix::io::Errno;
use std::ffi::CString;
use std::os::fd::OwnedFd;

use super::{path_text, reach};
use crate::init::base::Base;
use crate::wire::fault::{Fault, OrFault};

const MAX_PATH_BYTES: usize = 4095;
/// The kernel's own bound.
const MAX_LINKS: usize = 40;

const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// A path as the caller spelled it, and as absolute bytes.
#[derive(Clone)]
pub struct Path {
    pub text: String,
    pub bytes: Vec<u8>,
    pub parameter: &'static str,
    base: Base,
}

/// An entry of an open folder. It need not exist.
pub struct Location {
    pub folder: OwnedFd,
    pub name: CString,
}

impl Path {
    pub fn parse(parameter: &'static str, text: &str, base: &Base) -> Result<Self, Fault> {
        let given = path_text::to_bytes(text);
        if given.contains(&0) {
            return Err(Fault::invalid(parameter, "A path cannot hold a NUL byte."));
        }
        if given.len() > MAX_PATH_BYTES {
            return Err(Fault::invalid(
                parameter,
                format!("A path has at most {MAX_PATH_BYTES} bytes."),
            ));
        }
        Ok(Self {
            text: text.to_owned(),
            bytes: base.absolute(&given),
            parameter,
            base: base.clone(),
        })
    }

    /// A path of the agent's own.
    pub fn of_system(text: &str) -> Result<Self, Fault> {
        Self::parse("path", text, &Base::sandbox_root())
    }

    /// Shown paths of what is below this folder begin so.
    pub fn shown_prefix(&self) -> Vec<u8> {
        self.base.shown_prefix(&self.bytes)
    }

    /// Shown paths of this file's neighbours begin so.
    pub fn shown_parent(&self) -> Result<Vec<u8>, Fault> {
        Ok(self.base.shown_prefix(self.split()?.0))
    }

    /// The folder that holds the path's last name, which must be a name: not `.`, `..` or the root.
    pub fn locate(&self) -> Result<Location, Fault> {
        let (parent, name) = self.split()?;
        let folder =
            reach::open(CWD, parent, FOLDER, Mode::empty()).map_err(|errno| self.fault(errno))?;
        Ok(Location {
            folder,
            name: c_name(name)?,
        })
    }

    /// The path's folder part and its last name.
    pub fn split(&self) -> Result<(&[u8], &[u8]), Fault> {
        split(&self.bytes).ok_or_else(|| {
            Fault::invalid(
                self.parameter,
                format!("'{}' does not name an entry of a folder.", self.text),
            )
            .hint("Spell the path with the name of the file or folder itself at its end.")
        })
    }

    pub fn fault(&self, errno: Errno) -> Fault {
        Fault::from_errno(errno, &self.text).parameter(self.parameter)
    }
}

impl Location {
    /// Describes the entry itself, without following a link.
    pub fn stat(&self) -> rustix::io::Result<Stat> {
        statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// None when there is no such entry.
    pub fn stat_if_there(&self) -> rustix::io::Result<Option<Stat>> {
        match self.stat() {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// Follows a final symbolic link as open(2) does. The target need not exist.
    pub fn follow(mut self, subject: &Path) -> Result<(Self, Option<Stat>), Fault> {
        for _ in 0..MAX_LINKS {
            let stat = self.stat_if_there().map_err(|errno| subject.fault(errno))?;
            if stat.as_ref().map(file_type) != Some(FileType::Symlink) {
                return Ok((self, stat));
            }
            let target =
                readlinkat(&self.folder, &self.name, Vec::new()).or_fault(&subject.text)?;
            let (parent, name) = split(target.as_bytes()).ok_or_else(|| {
                Fault::invalid(
                    subject.parameter,
                    format!("'{}' leads to a folder.", subject.text),
                )
            })?;
            let folder = reach::open(&self.folder, parent, FOLDER, Mode::empty())
                .map_err(|errno| subject.fault(errno))?;
            self = Self {
                name: c_name(name)?,
                folder,
            };
        }
        Err(subject.fault(Errno::LOOP))
    }
}

pub fn file_type(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

pub fn size(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

/// `a/b/c//` is `a/b` and `c`; None for a path without a last name.
fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = path.iter().rposition(|&byte| byte != b'/')? + 1;
    let start = path[..end]
        .iter()
        .rposition(|&byte| byte == b'/')
        .map_or(0, |slash| slash + 1);
    let name = &path[start..end];
    if name == b"." || name == b".." {
        return None;
    }
    let parent = if start == 0 { b"." } else { &path[..start] };
    Some((parent, name))
}

pub fn c_name(name: &[u8]) -> Result<CString, Fault> {
    CString::new(name).map_err(|_| Fault::invalid("path", "A path cannot hold a NUL byte."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_splits_into_folder_and_name() {
        let cases: [(&str, Option<(&str, &str)>); 8] = [
            ("/a/b", Some(("/a/", "b"))),
            ("/a", Some(("/", "a"))),
            ("a", Some((".", "a"))),
            ("/a/b//", Some(("/a/", "b"))),
            ("/", None),
            ("/a/.", None),
            ("/a/..", None),
            ("", None),
        ];
        for (path, expected) in cases {
            let expected = expected.map(|(folder, name)| (folder.as_bytes(), name.as_bytes()));
            assert_eq!(split(path.as_bytes()), expected, "{path}");
        }
    }

    #[test]
    fn relative_paths_start_at_the_base() {
        let base = Base::sandbox_root();
        assert_eq!(
            Path::parse("path", "x", &base).unwrap().bytes,
            b"/workspace/x"
        );
        assert_eq!(Path::parse("path", "/x", &base).unwrap().bytes, b"/x");
        assert!(Path::parse("path", "a\0b", &base).is_err());
    }
}
