//! Settings of network namespaces, by a /proc of this process's own.
//!
//! Below /proc/sys/net each network namespace has names of its own, and the kernel's cache keeps them all in
//! one list for each mount: it compares a name with those of every namespace that was accessed through that
//! mount. With a thousand slots this took longer than the rest of making one. This mount has few names, which
//! disappear with it.

use rustix::fs::{Access, AtFlags, Mode, OFlags, accessat, openat};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use std::io::Result;
use std::os::fd::OwnedFd;

pub struct Settings {
    proc: OwnedFd,
}

impl Settings {
    /// The mount is attached nowhere, and lasts as long as this process and its children.
    pub fn open() -> Result<Self> {
        let context = fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_create(&context)?;
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
            | MountAttrFlags::MOUNT_ATTR_NODEV
            | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        let proc = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
        Ok(Settings { proc })
    }

    /// Sets one setting of the calling process's namespace.
    /// @param name Such as `ipv4/tcp_max_tw_buckets`.
    pub fn set(&self, name: &str, value: &str) -> Result<()> {
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        let file = openat(&self.proc, place(name), flags, Mode::empty())?;
        rustix::io::write(&file, value.as_bytes())?;
        Ok(())
    }

    /// True when this kernel has a setting, or a folder of them, of this name.
    pub fn has(&self, name: &str) -> bool {
        accessat(&self.proc, place(name), Access::EXISTS, AtFlags::empty()).is_ok()
    }
}

fn place(name: &str) -> String {
    format!("sys/net/{name}")
}
