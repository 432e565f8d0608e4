//! A name in a folder that is not yet, or no longer, the sandbox's own: what bears it goes away unless it is
//! renamed to its final name.

use rustix::fs::{AtFlags, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;
use std::ffi::CString;
use std::os::fd::{AsFd, OwnedFd};

const ATTEMPTS: usize = 8;

/// 64 random bits, so that nobody inside can be waiting at the name.
pub fn fresh_name() -> CString {
    let mut random = [0u8; 8];
    let _ = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty());
    let name = format!(".sandhaven-{:016x}.tmp", u64::from_le_bytes(random));
    CString::new(name).unwrap_or_default()
}

/// Open for writing by nobody else (0600) until its mode is set.
pub fn create_file(folder: impl AsFd) -> rustix::io::Result<(OwnedFd, CString)> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for _ in 0..ATTEMPTS {
        let name = fresh_name();
        match openat(&folder, &name, flags, Mode::RUSR | Mode::WUSR) {
            Err(Errno::EXIST) => {}
            result => return result.map(|file| (file, name)),
        }
    }
    Err(Errno::EXIST)
}

/// Removes the file when dropped, unless `keep` was called.
pub struct TemporaryFile {
    folder: OwnedFd,
    name: Option<CString>,
}

impl TemporaryFile {
    pub fn new(folder: OwnedFd, name: CString) -> Self {
        Self {
            folder,
            name: Some(name),
        }
    }

    pub fn folder(&self) -> &OwnedFd {
        &self.folder
    }

    /// For reading.
    pub fn open(&self) -> rustix::io::Result<OwnedFd> {
        let name = self.name.as_ref().ok_or(Errno::NOENT)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(&self.folder, name, flags, Mode::empty())
    }

    /// Gives the file its final name, in place of what has it.
    pub fn rename_to(&mut self, name: &CString) -> rustix::io::Result<()> {
        if let Some(temporary) = &self.name {
            rustix::fs::renameat(&self.folder, temporary, &self.folder, name)?;
            self.name = None;
        }
        Ok(())
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = unlinkat(&self.folder, name, AtFlags::empty());
        }
    }
}
