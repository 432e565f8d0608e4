//! The descriptors of PID 1: its null device three times, the agent's socket, and nothing else.

use crate::failure::{Failure, Step};
use rustix::fs::{Mode, OFlags, openat};
use std::io::Error;
use std::os::fd::{AsRawFd, OwnedFd};

/// Descriptor of the socket, where the agent expects it.
const SOCKET: i32 = 3;

/// @param null The machine's own null device.
pub fn arrange(null: OwnedFd, listener: OwnedFd) -> Result<(), Failure> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    let null = openat(&null, "null", flags, Mode::empty()).step("open the null device")?;
    // Moves both above the numbers to be assigned.
    let [null, listener] =
        [null, listener].map(|file| rustix::io::fcntl_dupfd_cloexec(&file, SOCKET + 1));
    let (null, listener) = (
        null.step("move the null device")?,
        listener.step("move the agent's socket")?,
    );
    for (file, number) in [(&null, 0), (&null, 1), (&null, 2), (&listener, SOCKET)] {
        // SAFETY: both are numbers. The previous file of this number is no longer used: the program is
        // executed, or ends.
        if unsafe { libc::dup2(file.as_raw_fd(), number) } < 0 {
            return Err(Error::last_os_error()).step("give the program its descriptors");
        }
    }
    close_others_at_execution()
}

/// Descriptors of this program are close-on-exec. This closes inherited ones.
fn close_others_at_execution() -> Result<(), Failure> {
    // SAFETY: the call takes numbers.
    let status = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            SOCKET + 1,
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    };
    match status {
        0 => Ok(()),
        _ => Err(Error::last_os_error()).step("close other descriptors"),
    }
}
