//! Copies this process.

use rustix::process::Pid;
use std::io::Error;
use std::os::fd::{AsRawFd, BorrowedFd};

/// libc's own constant does not fit its type.
const INTO_CGROUP: u64 = 0x2_0000_0000;

/// Returns the copy's process id to this process, and None to the copy, which is in new namespaces of these kinds. It is in the
/// group of version 2 from its first moment: joining one later waits until all processors have noticed.
pub fn clone(namespaces: i32, group: Option<BorrowedFd<'_>>) -> Result<Option<Pid>, Error> {
    // SAFETY: clone_args is plain data for which all zeroes is a valid value.
    let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
    arguments.flags = namespaces as u64;
    arguments.exit_signal = libc::SIGCHLD as u64;
    if let Some(group) = group {
        arguments.flags |= INTO_CGROUP;
        arguments.cgroup = group.as_raw_fd() as u64;
    }
    // SAFETY: the kernel reads one clone_args, which outlives the call. Without a stack and shared memory this is a fork. This
    // process has one thread, so the copy may go on using everything that it inherited.
    match unsafe {
        libc::syscall(
            libc::SYS_clone3,
            &raw const arguments,
            size_of_val(&arguments),
        )
    } {
        -1 => Err(Error::last_os_error()),
        number => Ok(Pid::from_raw(number as i32)),
    }
}
