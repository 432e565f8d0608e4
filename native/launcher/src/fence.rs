//! The fence: a cgroup of this boot of the service, killed as a whole before the next boot reconciles. A
//! fence that was killed is gone, so a helper of a dead service fails here instead of acting late.

use crate::failure::{Failure, Step};
use crate::process::clone::clone;
use rustix::fs::{Mode, OFlags, open};
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, getppid, kill_process,
    set_parent_process_death_signal, waitpid,
};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::exit;

#[derive(Default)]
pub struct Fence {
    /// Its list of threads, in a hierarchy of version 1.
    pub list: Option<PathBuf>,
    /// Its folder, in the hierarchy of version 2.
    pub group: Option<PathBuf>,
}

impl Fence {
    /// Continues inside the fence. With a group of version 2 a copy of this process continues, and this
    /// process waits for it.
    pub fn enter(&self) -> Result<(), Failure> {
        if let Some(list) = &self.list {
            let mut list = OpenOptions::new()
                .write(true)
                .open(list)
                .step("open the fence")?;
            list.write_all(b"0").step("join the fence")?;
        }
        match &self.group {
            Some(group) => go_on_in(group),
            None => Ok(()),
        }
    }
}

/// Joining the group waits for all processors, which takes milliseconds; a copy of this small process takes a
/// fraction of one. The copy shares the streams of this process, so the service sees their end only when both
/// have ended.
fn go_on_in(group: &Path) -> Result<(), Failure> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let group = open(group, flags, Mode::empty()).step("open the fence")?;
    let caller = getpid();
    match clone(0, Some(group.as_fd())).step("join the fence")? {
        Some(copy) => end_like(copy),
        None => {
            // Both are in the process group by which the service ends them. This covers a kill of the other
            // process alone.
            set_parent_process_death_signal(Some(Signal::KILL)).step("depend on the caller")?;
            if getppid() != Some(caller) {
                exit(1);
            }
            Ok(())
        }
    }
}

/// Waits for the copy, which does the work, and ends with its status.
fn end_like(copy: Pid) -> ! {
    let status = loop {
        match waitpid(Some(copy), WaitOptions::empty()) {
            Ok(Some((_, status))) => break status,
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => exit(1),
        }
    };
    exit(status.exit_status().unwrap_or_else(|| die_by(status)))
}

fn die_by(status: WaitStatus) -> i32 {
    const BY_SIGNAL: i32 = 128;
    let number = status.terminating_signal().unwrap_or_default();
    if let Some(signal) = Signal::from_named_raw(number) {
        let _ = kill_process(getpid(), signal);
    }
    BY_SIGNAL + number
}
