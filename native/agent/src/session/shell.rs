//! The bash of a session: how it is started, and how its end is noticed.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::timeout;

use super::control::{Control, Message};
use super::terminal::Terminal;
use crate::exec::command::Command;
use crate::exec::ending::exit_code;
use crate::exec::report::Report;
use crate::exec::spawn::{self, Channel};
use crate::init::context::Context;
use crate::init::reaper::WatchedExit;
use crate::wire::fault::{Code, END_PROCESSES, Fault};
use crate::wire::resource::Resource;

/// Time for bash to start, in which it also reads the file that BASH_ENV names.
const START_PATIENCE: Duration = Duration::from_secs(10);

/// Reads the loop from descriptor 3, so that it shows in no list of processes.
const LOADER: &str =
    r#"IFS= TMOUT= builtin read -rd '' -u3 __sandhaven; builtin eval "$__sandhaven""#;

/// Dropping it kills the whole tree while the shell itself still runs.
pub struct Shell {
    pub control: Control,
    pub end: End,
}

impl Shell {
    /// Resolves when bash waits for its first command.
    pub async fn start(
        context: &Context,
        terminal: &Terminal,
        env: &BTreeMap<String, String>,
        cwd: &str,
    ) -> Result<Self, Fault> {
        let (control, other) = Control::pair()?;
        let argv = ["bash", "--norc", "--noprofile", "-c", LOADER, "bash"].map(str::to_owned);
        let mut command = Command::new(context, &argv, cwd, env, terminal.slave()?)?;
        command.terminal = true;
        command.outlived = true;
        command.extra.push(other);
        let channel = spawn::spawn_silent(&command, &context.null()?)?;
        let pid = match channel.next().await? {
            Some((Report::Started, pid)) => pid,
            Some((failed, errno)) => {
                return Err(spawn::start_fault(&command.names, failed, errno));
            }
            None => return Err(not_ready()),
        };
        let names = command.into_names();
        let end = End {
            tree: Rc::new(channel),
            pid,
            exit: context.reaper.watch(pid),
            status: None,
        };
        let mut shell = Self { control, end };
        // After an error the shell does not start, which is noticed below.
        let _ = shell.control.script(&script()).await;
        let first = tokio::select! {
            biased;
            report = shell.end.tree.next() => match report? {
                Some((failed @ (Report::CwdFailed | Report::ExecFailed | Report::UserFailed), errno)) => {
                    return Err(explain(spawn::start_fault(&names, failed, errno)));
                }
                _ => None,
            },
            first = timeout(START_PATIENCE, shell.control.next()) => first.ok().flatten(),
        };
        match first {
            Some(Message::Ready) => Ok(shell),
            _ => Err(not_ready()),
        }
    }
}

/// The end of a shell, whatever its cause.
pub struct End {
    pub tree: Rc<Channel>,
    pub pid: i32,
    exit: WatchedExit,
    status: Option<i32>,
}

impl End {
    /// Resolves with the exit code. May be dropped and called again.
    pub async fn code(&mut self) -> i32 {
        let status = match self.status {
            Some(status) => status,
            None => self.wait().await,
        };
        self.status = Some(status);
        exit_code(status)
    }

    async fn wait(&mut self) -> i32 {
        if let Ok(Some((Report::Exited, status))) = self.tree.next().await {
            return status;
        }
        // A process inside killed the supervisor. The shell may live on as a child of this process.
        // SAFETY: kill takes numbers and touches no memory. Signal 0 only asks.
        if unsafe { libc::kill(self.pid, 0) } != 0 {
            return libc::SIGKILL;
        }
        self.exit.status().await.unwrap_or(libc::SIGKILL)
    }
}

/// On one line, so that the messages of bash count the lines of the command.
fn script() -> String {
    let lines = include_str!("shell.bash").lines();
    let code: Vec<_> = lines.filter(|line| !line.starts_with('#')).collect();
    code.join(" ")
}

fn explain(fault: Fault) -> Fault {
    match fault.resource {
        Some(Resource::Interpreter) => Fault {
            detail: "The sandbox's image has no bash, which sessions need.".to_owned(),
            ..fault
        }
        .hint("Use Sandbox.RunCommand, or create the sandbox from an image that has bash."),
        _ => fault,
    }
}

fn not_ready() -> Fault {
    Fault::new(
        Code::ResourceExhausted,
        "The session's bash did not start; the sandbox may be out of processes or memory.",
    )
    .hint(END_PROCESSES)
}
