//! The end of a start: this process becomes runc.

use crate::devices;
use crate::failure::{Failure, Step};
use rustix::fs::{Mode, OFlags, open};
use std::convert::Infallible;
use std::ffi::OsStr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

pub struct Run<'a> {
    pub program: &'a OsStr,
    /// Folder of runc's state of all containers.
    pub state: &'a OsStr,
    pub bundle: &'a Path,
    pub id: &'a OsStr,
}

impl Run<'_> {
    /// The machine's PID 1 inherits runc's standard streams, which therefore lead to its own null device, and
    /// descriptor 3. runc's messages are in its log, beside the bundle's config.json.
    pub fn execute(&self, listener: OwnedFd) -> Result<Infallible, Failure> {
        let null = open(devices::NULL, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
            .step("open the null device")?;
        let own_stderr = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stderr(), 10)
            .step("keep standard error")?;
        rustix::process::chdir("/").step("leave the stage")?;
        let mut command = Command::new(self.program);
        command
            .arg("--root")
            .arg(self.state)
            .arg("--log")
            .arg(self.bundle.join("runc.log"))
            .args(["run", "--detach", "--preserve-fds", "1", "--bundle"])
            .arg(self.bundle)
            .arg(self.id)
            .env_clear();
        donate(listener)?;
        rustix::stdio::dup2_stdin(&null).step("close standard input")?;
        rustix::stdio::dup2_stdout(&null).step("close standard output")?;
        rustix::stdio::dup2_stderr(&null).step("close standard error")?;
        let error = command.exec();
        rustix::stdio::dup2_stderr(&own_stderr).step("restore standard error")?;
        Err(error).step("execute runc")
    }
}

/// Puts the socket at descriptor 3, open across execution; every other descriptor is close-on-exec.
fn donate(listener: OwnedFd) -> Result<(), Failure> {
    const AGENT_SOCKET: i32 = 3;
    if listener.as_raw_fd() == AGENT_SOCKET {
        rustix::io::fcntl_setfd(&listener, rustix::io::FdFlags::empty())
            .step("donate the agent's socket")?;
        std::mem::forget(listener);
        return Ok(());
    }
    // SAFETY: descriptor 3 is free, or the image's, whose owner does nothing more with it than closing it when this
    // program fails. Forgetting it below keeps it open.
    let mut target = unsafe { OwnedFd::from_raw_fd(AGENT_SOCKET) };
    rustix::io::dup2(&listener, &mut target).step("donate the agent's socket")?;
    std::mem::forget(target);
    Ok(())
}
