//! A folder that new files must lie beneath, wherever the links of a path lead.

use rustix::fs::{CWD, Mode, OFlags, openat, readlinkat};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use crate::files::location::Path;
use crate::wire::fault::{Fault, OrFault};

pub struct Enclosure {
    /// Its name in errors.
    text: String,
    folder: OwnedFd,
}

impl Enclosure {
    pub fn open(text: &str) -> Result<Self, Fault> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = openat(CWD, text, flags, Mode::empty()).or_fault(text)?;
        Ok(Self {
            text: text.to_owned(),
            folder,
        })
    }

    /// Fails unless an open folder is this one or lies in it. Every later step is relative to that open
    /// folder, so a path that changes meanwhile redirects no step.
    pub fn check(&self, path: &Path, folder: impl AsFd) -> Result<(), Fault> {
        let own = place_of(&self.folder, path)?;
        let other = place_of(folder, path)?;
        let beneath = other
            .strip_prefix(own.as_slice())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/") || own == b"/");
        if beneath {
            return Ok(());
        }
        let detail = format!("'{}' is not beneath {}.", path.text, self.text);
        Err(Fault::invalid(path.parameter, detail)
            .hint("A link may lead out of it: give a path whose folders are all beneath it."))
    }
}

/// The kernel's path of an open folder, without links.
fn place_of(folder: impl AsFd, path: &Path) -> Result<Vec<u8>, Fault> {
    let descriptor = format!("/proc/self/fd/{}", folder.as_fd().as_raw_fd());
    readlinkat(CWD, descriptor, Vec::new())
        .map(|place| place.into_bytes())
        .map_err(|errno| path.fault(errno))
}
