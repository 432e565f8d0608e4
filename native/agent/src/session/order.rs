//! Puts a command's FIFOs into packet mode, in which the order of the writes is exact (see `exec/pipes.rs`).
//! The mode belongs to the writing end that bash has opened, so that one is borrowed for a moment. Where the
//! system refuses that, the order is nearly exact.

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use std::os::fd::OwnedFd;

use super::fifos::identity;

/// `fifos` are the files of the shell's descriptors 1 and 2, which the shell has opened and not written to yet.
pub fn make_exact(shell: i32, fifos: [(u64, u64); 2]) {
    let Some(pid) = Pid::from_raw(shell) else {
        return;
    };
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else {
        return;
    };
    for (fd, fifo) in (1..).zip(fifos) {
        let _ = set_packet_mode(&process, fd, fifo);
    }
}

fn set_packet_mode(process: &OwnedFd, fd: i32, fifo: (u64, u64)) -> rustix::io::Result<()> {
    let writing = pidfd_getfd(process, fd, PidfdGetfdFlags::empty())?;
    if identity(&writing)? == fifo {
        fcntl_setfl(&writing, fcntl_getfl(&writing)? | OFlags::DIRECT)?;
    }
    Ok(())
}
