//! Mounts whose ids are shifted, so that a disk holds ids from 0 and fits any slot.

use crate::failure::{Failure, Step};
use crate::mounts::attributes;
use linux_raw_sys::general::MOUNT_ATTR_IDMAP;
use rustix::fs::{Mode, OFlags, open};
use std::io::{Error, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

/// Ids of one machine.
const RANGE: u32 = 65_536;

/// A user namespace that maps on-disk ids 0… to host ids `base`…, and on-disk id 65536 to host root: overlayfs
/// works as the root that mounts it, and an id without a mapping would make it silently read-only.
pub fn user_namespace(base: u32) -> Result<OwnedFd, Failure> {
    let (mut parent, child) = UnixStream::pair().step("make a pair of sockets")?;
    // SAFETY: this process has one thread, so the child may go on using everything that it inherited.
    match unsafe { libc::fork() } {
        -1 => Err(Error::last_os_error()).step("fork"),
        0 => {
            drop(parent);
            hold_namespace(child)
        }
        pid => {
            drop(child);
            let namespace = parent
                .read_exact(&mut [0])
                .step("make a user namespace")
                .and_then(|()| map(pid, base));
            drop(parent);
            // SAFETY: `pid` is this process's own child, not waited for yet; no status is asked for.
            unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
            namespace
        }
    }
}

/// Runs in the child: makes a new namespace, and waits until the parent hangs up. Exits without running the
/// parent's handlers.
fn hold_namespace(mut parent: UnixStream) -> ! {
    // SAFETY: both calls take numbers. This process has one thread, and runs nothing of its parent's at its end.
    unsafe {
        if libc::unshare(libc::CLONE_NEWUSER) == 0 && parent.write_all(b"r").is_ok() {
            let _ = parent.read(&mut [0]);
        }
        libc::_exit(0)
    }
}

fn map(pid: i32, base: u32) -> Result<OwnedFd, Failure> {
    let ids = format!("0 {base} {RANGE}\n{RANGE} 0 1\n");
    std::fs::write(format!("/proc/{pid}/uid_map"), &ids).step("map user ids")?;
    std::fs::write(format!("/proc/{pid}/gid_map"), &ids).step("map group ids")?;
    open(
        format!("/proc/{pid}/ns/user"),
        OFlags::RDONLY | OFlags::CLOEXEC,
        Mode::empty(),
    )
    .step("open the user namespace")
}

/// Shifts the ids of a mount that is not yet attached anywhere, and sets further MOUNT_ATTR_ flags on it.
pub fn apply(mount: &OwnedFd, namespace: &OwnedFd, flags: u32) -> Result<(), Error> {
    attributes::set(mount, MOUNT_ATTR_IDMAP | flags, Some(namespace))
}
