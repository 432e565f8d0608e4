//! Temporary names in folders of the sandbox: a file or folder under one is removed unless it is renamed to
//! its final name.

use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, openat, renameat, unlinkat};
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};

const ATTEMPTS: usize = 8;

/// 64 random bits, so that no program inside can occupy the name beforehand.
pub fn fresh_name() -> CString {
    let mut random = [0u8; 8];
    let _ = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty());
    let name = format!(".sandhaven-{:016x}.tmp", u64::from_le_bytes(random));
    CString::new(name).unwrap_or_default()
}

/// A new file in a folder, 0600 until its mode is set. It has no name until it gets its final one, so that
/// nothing is left when the machine ends first. Where the file system has no files without names, it has a
/// temporary name, and is removed when dropped.
pub struct TemporaryFile {
    /// Open for reading too.
    pub file: File,
    folder: OwnedFd,
    name: Option<CString>,
}

impl TemporaryFile {
    pub fn create(folder: OwnedFd) -> rustix::io::Result<Self> {
        let mode = Mode::RUSR | Mode::WUSR;
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        match openat(&folder, c".", flags | OFlags::TMPFILE, mode) {
            // File systems and kernels without O_TMPFILE answer with the last two.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => {}
            result => {
                return result.map(|file| Self {
                    file: File::from(file),
                    folder,
                    name: None,
                });
            }
        }
        let flags = flags | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let (file, name) = under_fresh_name(|name| openat(&folder, name, flags, mode))?;
        Ok(Self {
            file: File::from(file),
            folder,
            name: Some(name),
        })
    }

    pub fn folder(&self) -> &OwnedFd {
        &self.folder
    }

    /// Gives the file its final name, and replaces the file that has it.
    pub fn rename_to(&mut self, name: &CString) -> rustix::io::Result<()> {
        if self.name.is_none() {
            match self.link(name) {
                Err(Errno::EXIST) => {}
                result => return result,
            }
            let ((), temporary) = under_fresh_name(|name| self.link(name))?;
            self.name = Some(temporary);
        }
        if let Some(temporary) = &self.name {
            renameat(&self.folder, temporary, &self.folder, name)?;
            self.name = None;
        }
        Ok(())
    }

    /// Gives the file its final name. Fails with EXIST where the name is taken, even since a moment ago.
    pub fn name_new(&self, name: &CStr) -> rustix::io::Result<()> {
        match &self.name {
            None => self.link(name),
            // The temporary name goes when this is dropped.
            Some(temporary) => linkat(
                &self.folder,
                temporary,
                &self.folder,
                name,
                AtFlags::empty(),
            ),
        }
    }

    /// Links by the descriptor's path in /proc, which needs no capability, unlike an empty path.
    fn link(&self, name: &CStr) -> rustix::io::Result<()> {
        let itself = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        linkat(CWD, itself, &self.folder, name, AtFlags::SYMLINK_FOLLOW)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = unlinkat(&self.folder, name, AtFlags::empty());
        }
    }
}

fn under_fresh_name<T>(
    make: impl Fn(&CStr) -> rustix::io::Result<T>,
) -> rustix::io::Result<(T, CString)> {
    for _ in 0..ATTEMPTS {
        let name = fresh_name();
        match make(&name) {
            Err(Errno::EXIST) => {}
            result => return result.map(|made| (made, name)),
        }
    }
    Err(Errno::EXIST)
}
