//! Makes the machine's PID 1.

use crate::failure::{Failure, Step};
use std::io::Error;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Its namespaces but those of cgroups and queues: the one begins at the groups that it has yet to join, and the other
/// belongs to the user that makes it.
const NAMESPACES: i32 = libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::CLONE_NEWUTS;

/// libc's own constant does not fit its type.
const INTO_CGROUP: u64 = 0x2_0000_0000;

/// Returns the process id to the parent, and None to PID 1. A group of version 2 is joined at once: a later change waits
/// until all processors have noticed.
pub fn init(group: Option<BorrowedFd<'_>>) -> Result<Option<i32>, Failure> {
    // SAFETY: clone_args is plain data for which all zeroes is a valid value.
    let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
    arguments.flags = NAMESPACES as u64;
    arguments.exit_signal = libc::SIGCHLD as u64;
    if let Some(group) = group {
        arguments.flags |= INTO_CGROUP;
        arguments.cgroup = group.as_raw_fd() as u64;
    }
    // SAFETY: the kernel reads one clone_args, which outlives the call. Without a stack and shared memory this is a fork. This
    // process has one thread, so the child may go on using everything that it inherited.
    match unsafe {
        libc::syscall(
            libc::SYS_clone3,
            &raw const arguments,
            size_of_val(&arguments),
        )
    } {
        -1 => Err(Error::last_os_error()).step("clone the machine's first process"),
        0 => Ok(None),
        pid => Ok(Some(pid as i32)),
    }
}
