//! The end of a command's own process, also after a process inside killed its supervisor.

use super::command::Names;
use super::report::Report;
use super::spawn::{self, Channel};
use crate::init::reaper::WatchedExit;
use crate::wire::fault::Fault;

/// Returns the wait status. Fails when the command did not start. `exit` is that of `pid`, the command.
pub async fn wait(
    channel: &Channel,
    names: &Names,
    pid: i32,
    exit: WatchedExit,
) -> Result<i32, Fault> {
    match channel.next().await? {
        Some((Report::Exited, status)) => Ok(status),
        Some((failed @ (Report::CwdFailed | Report::ExecFailed), errno)) => {
            Err(spawn::start_fault(names, failed, errno))
        }
        _ => Ok(follow_orphan(pid, exit).await),
    }
}

/// A process inside killed the supervisor. The command may live on as a child of this process.
async fn follow_orphan(pid: i32, mut exit: WatchedExit) -> i32 {
    let mut group = KillGroupOnDrop(Some(pid));
    // SAFETY: kill takes numbers and touches no memory. Signal 0 only asks.
    if unsafe { libc::kill(pid, 0) } != 0 {
        return libc::SIGKILL;
    }
    let status = exit.status().await;
    group.0 = None;
    status.unwrap_or(libc::SIGKILL)
}

/// The command leads a process group of its own. Processes that left the group cannot be found without the supervisor.
struct KillGroupOnDrop(Option<i32>);

impl Drop for KillGroupOnDrop {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            // SAFETY: kill takes numbers and touches no memory.
            unsafe { libc::kill(-pid, libc::SIGKILL) };
        }
    }
}

pub fn exit_code(status: i32) -> i32 {
    match signal(status) {
        Some(signal) => 128 + signal,
        None => libc::WEXITSTATUS(status),
    }
}

/// The signal that ended the command.
pub fn signal(status: i32) -> Option<i32> {
    libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status))
}
