//! Attributes of a mount that is open. Neither libc nor rustix has a function for the system call.

use linux_raw_sys::general::mount_attr;
use std::io::Error;
use std::os::fd::{AsRawFd, OwnedFd};

/// Adds MOUNT_ATTR_ flags. Only MOUNT_ATTR_IDMAP needs a user namespace.
pub fn set(mount: &OwnedFd, flags: u32, user_namespace: Option<&OwnedFd>) -> Result<(), Error> {
    let attributes = mount_attr {
        attr_set: u64::from(flags),
        attr_clr: 0,
        propagation: 0,
        userns_fd: user_namespace.map_or(0, |namespace| namespace.as_raw_fd() as u64),
    };
    // SAFETY: the path is an empty C string, and the kernel reads size_of_val bytes of `attributes`.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH,
            &raw const attributes,
            size_of_val(&attributes),
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}
