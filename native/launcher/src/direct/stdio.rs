//! The descriptors of PID 1: its null device three times, the agent's socket, and nothing else.

use crate::failure::{Failure, Step};
use rustix::fs::{Mode, OFlags, openat};
use std::io::Error;
use std::os::fd::{AsRawFd, OwnedFd};

/// Of the socket, which the agent looks for here.
const SOCKET: i32 = 3;

/// @param null The machine's own null device.
pub fn arrange(null: OwnedFd, listener: OwnedFd) -> Result<(), Failure> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    let null = openat(&null, "null", flags, Mode::empty()).step("open the null device")?;
    // Both out of the way of the numbers that are given.
    let [null, listener] =
        [null, listener].map(|file| rustix::io::fcntl_dupfd_cloexec(&file, SOCKET + 1));
    let (null, listener) = (
        null.step("move the null device")?,
        listener.step("move the agent's socket")?,
    );
    for (file, number) in [(&null, 0), (&null, 1), (&null, 2), (&listener, SOCKET)] {
        // SAFETY: both are numbers. What had this one is not used any more: the program is executed, or ends.
        if unsafe { libc::dup2(file.as_raw_fd(), number) } < 0 {
            return Err(Error::last_os_error()).step("give the program its descriptors");
        }
    }
    close_others_at_execution()
}

/// Every descriptor of this program closes by itself. This is for one that was inherited.
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
