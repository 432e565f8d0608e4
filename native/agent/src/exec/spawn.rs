//! Starts a command under a supervisor of its own, and the agent's end of the channel between them.

use rustix::fs::{OFlags, fcntl_setfl};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::pipe::{PipeFlags, pipe_with};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use tokio::io::unix::AsyncFd;

use super::command::{Command, MAX_EXTRA_FDS, Names};
use super::pipes::EXACT_ORDER_BYTES;
use super::report::{REPORT_BYTES, Report};
use super::supervisor::{self, Descriptors};
use crate::init::readiness::readable;
use crate::wire::fault::{Code, END_PROCESSES, Fault};
use crate::wire::resource::Resource;

/// The agent's end of a running command. Dropping it kills the command's whole tree.
pub struct Channel(AsyncFd<OwnedFd>);

pub struct Spawned {
    pub channel: Channel,
    pub stdout: OwnedFd,
    pub stderr: OwnedFd,
}

/// Starts a command whose output is collected.
pub fn spawn(command: &Command) -> Result<Spawned, Fault> {
    let (stdout, stdout_write) = output_pipe()?;
    let (stderr, stderr_write) = output_pipe()?;
    let channel = fork(command, &stdout_write, &stderr_write, false)?;
    Ok(Spawned {
        channel,
        stdout,
        stderr,
    })
}

/// Starts a command that outlives the call and whose output is discarded.
pub fn spawn_detached(command: &Command, null: &OwnedFd) -> Result<Channel, Fault> {
    fork(command, null, null, true)
}

/// Starts a command that is followed to its end and whose own output is discarded.
pub fn spawn_silent(command: &Command, null: &OwnedFd) -> Result<Channel, Fault> {
    fork(command, null, null, false)
}

/// Starts a command whose output goes straight to the given descriptors.
pub fn spawn_streaming(
    command: &Command,
    stdout: &OwnedFd,
    stderr: &OwnedFd,
) -> Result<Channel, Fault> {
    fork(command, stdout, stderr, false)
}

impl Channel {
    /// Awaits the supervisor's next report; None when it ended without one.
    pub async fn next(&self) -> io::Result<Option<(Report, i32)>> {
        loop {
            let mut ready = self.0.readable().await?;
            let received = ready.try_io(|fd| {
                let mut bytes = [0; REPORT_BYTES];
                let (length, _) =
                    rustix::net::recv(fd, &mut bytes[..], rustix::net::RecvFlags::empty())?;
                Ok((length == REPORT_BYTES).then_some(bytes))
            });
            match received {
                Ok(bytes) => return Ok(bytes?.and_then(Report::parse)),
                Err(_would_block) => {}
            }
        }
    }

    /// Asks for the end of the whole tree; `Killed` follows.
    pub fn kill(&self) {
        let _ = rustix::net::send(self.0.get_ref(), b"k", rustix::net::SendFlags::NOSIGNAL);
    }
}

/// Explains a start that failed.
pub fn start_fault(names: &Names, report: Report, errno: i32) -> Fault {
    match (report, errno) {
        (Report::CwdFailed, libc::ENOENT | libc::ENOTDIR | libc::ENAMETOOLONG) => Fault::not_found(
            Resource::Folder,
            format!("The working folder '{}' does not exist.", names.cwd),
        )
        .parameter("cwd")
        .hint("Make it with Sandbox.CreateFolder, or leave cwd out."),
        (Report::CwdFailed, _) => Fault::new(
            Code::PermissionDenied,
            format!("The working folder '{}' cannot be entered.", names.cwd),
        )
        .parameter("cwd"),
        (Report::UserFailed, errno) => Fault::new(
            Code::FailedPrecondition,
            format!(
                "The sandbox cannot run programs as this user: {}.",
                io::Error::from_raw_os_error(errno)
            ),
        )
        .parameter("user"),
        (Report::ExecFailed, libc::ENOENT | libc::ENOTDIR) => Fault {
            resource: Some(Resource::Interpreter),
            ..Fault::new(
                Code::FailedPrecondition,
                format!("The sandbox has no program '{}'.", names.program),
            )
            .hint("Install it, or use an image that has it.")
        },
        (Report::ExecFailed, libc::EACCES | libc::EPERM | libc::ENOEXEC) => Fault {
            resource: Some(Resource::Interpreter),
            ..Fault::new(
                Code::FailedPrecondition,
                format!("The program '{}' cannot be executed.", names.program),
            )
        },
        (Report::ExecFailed, libc::E2BIG) => Fault::new(
            Code::TooLarge,
            "The command and its environment are larger than Linux accepts.",
        ),
        (_, libc::EAGAIN | libc::ENOMEM | libc::EMFILE | libc::ENFILE) => no_process(),
        (_, errno) => Fault::new(
            Code::Internal,
            format!(
                "The command did not start: {}.",
                io::Error::from_raw_os_error(errno)
            ),
        ),
    }
}

pub fn no_process() -> Fault {
    Fault::new(
        Code::ResourceExhausted,
        "The sandbox has no processes or memory left for a command.",
    )
    .hint(END_PROCESSES)
}

pub fn supervisor_lost() -> Fault {
    Fault::new(
        Code::ResourceExhausted,
        "The command was killed before it started; the sandbox may be out of memory.",
    )
}

/// Makes a pipe in packet mode with room for one packet, so that the order of writes to two of them is known
/// (see `pipes`).
fn output_pipe() -> Result<(OwnedFd, OwnedFd), Fault> {
    let (read, write) =
        pipe_with(PipeFlags::CLOEXEC | PipeFlags::DIRECT).map_err(|_| no_process())?;
    let _ = rustix::pipe::fcntl_setpipe_size(&read, EXACT_ORDER_BYTES);
    fcntl_setfl(&read, OFlags::NONBLOCK).map_err(io::Error::from)?;
    Ok((read, write))
}

fn fork(
    command: &Command,
    stdout: &OwnedFd,
    stderr: &OwnedFd,
    detached: bool,
) -> Result<Channel, Fault> {
    let (own, other) = rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )
    .map_err(|_| no_process())?;
    let mut extra = [-1; MAX_EXTRA_FDS];
    for (slot, fd) in extra.iter_mut().zip(&command.extra) {
        *slot = fd.as_raw_fd();
    }
    let descriptors = Descriptors {
        channel: other.as_raw_fd(),
        stdin: command.stdin.as_raw_fd(),
        stdout: stdout.as_raw_fd(),
        stderr: stderr.as_raw_fd(),
        extra,
        extra_count: command.extra.len().min(MAX_EXTRA_FDS),
    };
    rustix::io::ioctl_fionbio(&own, true).map_err(io::Error::from)?;
    let channel = Channel(readable(own)?);
    // SAFETY: the child runs only `supervisor::run`, which takes no lock and allocates nothing: other threads of the
    // agent may have held a lock, or the allocator's, at the fork.
    match unsafe { libc::fork() } {
        0 => supervisor::run(command, descriptors, detached),
        -1 => Err(no_process()),
        _ => Ok(channel),
    }
}
