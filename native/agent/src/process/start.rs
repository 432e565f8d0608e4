//! Starts a program with pipes or a terminal of its own, and keeps the agent's ends of them.

use rustix::pipe::{PipeFlags, pipe_with};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use tokio::io::unix::AsyncFd;

use super::outputs::Outputs;
use crate::exec::command::{Command, Names};
use crate::exec::ending;
use crate::exec::report::Report;
use crate::exec::spawn::{self, Channel, supervisor_lost};
use crate::exec::terminal::{self, Size, Terminal};
use crate::init::context::Context;
use crate::init::readiness::writable;
use crate::init::reaper::WatchedExit;
use crate::wire::fault::Fault;

pub struct Program {
    argv: Vec<String>,
    cwd: String,
    env: BTreeMap<String, String>,
    /// The agent's own executable, whatever `argv` calls it.
    own: bool,
}

/// A forked process that may still fail to execute its program. Dropping it kills the whole tree.
pub struct Starting {
    channel: Channel,
    names: Names,
    ends: Ends,
}

/// Dropping it kills the whole tree.
pub struct Running {
    pub pid: i32,
    pub ends: Ends,
    channel: Channel,
    names: Names,
    exit: WatchedExit,
}

/// The agent's ends of the program's streams.
pub struct Ends {
    pub stdin: AsyncFd<OwnedFd>,
    pub outputs: Outputs,
    /// The program's terminal. Its slave is kept open until the program ends: a terminal that no process has
    /// open looks ended, and a program may close it and open it again.
    pub terminal: Option<Terminal>,
}

impl Program {
    pub fn of_sandbox(argv: Vec<String>, cwd: String, env: BTreeMap<String, String>) -> Self {
        Self {
            argv,
            cwd,
            env,
            own: false,
        }
    }

    pub fn of_agent(argv: Vec<String>, cwd: String) -> Self {
        Self {
            argv,
            cwd,
            env: BTreeMap::new(),
            own: true,
        }
    }

    pub fn start_with_pipes(&self, context: &Context) -> Result<Starting, Fault> {
        let (stdin_read, stdin) = pipe()?;
        let (stdout, stdout_write) = pipe()?;
        let (stderr, stderr_write) = pipe()?;
        let ends = Ends {
            stdin: writable(nonblocking(stdin)?)?,
            outputs: Outputs::new(nonblocking(stdout)?, Some(nonblocking(stderr)?))?,
            terminal: None,
        };
        let command = self.command(context, stdin_read)?;
        let channel = spawn::spawn_streaming(&command, &stdout_write, &stderr_write)?;
        Ok(Starting::new(channel, command, ends))
    }

    pub fn start_with_terminal(&self, context: &Context, size: Size) -> Result<Starting, Fault> {
        let Terminal { master, slave } = terminal::open(size)?;
        let master = nonblocking(master)?;
        let mut command = self.command(context, slave.try_clone()?)?;
        command.terminal = true;
        let ends = Ends {
            stdin: writable(master.try_clone()?)?,
            outputs: Outputs::new(master.try_clone()?, None)?,
            terminal: None,
        };
        let channel = spawn::spawn_streaming(&command, &slave, &slave)?;
        let terminal = Some(Terminal { master, slave });
        let ends = Ends { terminal, ..ends };
        Ok(Starting::new(channel, command, ends))
    }

    fn command(&self, context: &Context, stdin: OwnedFd) -> Result<Command, Fault> {
        let mut command = Command::new(context, &self.argv, &self.cwd, &self.env, stdin)?;
        command.announced = true;
        Ok(if self.own {
            command.of_agent()
        } else {
            command
        })
    }
}

impl Starting {
    fn new(channel: Channel, command: Command, ends: Ends) -> Self {
        Self {
            channel,
            names: command.into_names(),
            ends,
        }
    }

    pub async fn running(self, context: &Context) -> Result<Running, Fault> {
        let Self {
            channel,
            names,
            ends,
        } = self;
        let mut started = None;
        loop {
            match (channel.next().await?, started.take()) {
                (Some((Report::Started, pid)), _) => {
                    started = Some((pid, context.reaper.watch(pid)));
                }
                // No report came: the program may have killed its supervisor at once.
                (Some((Report::Running, _)) | None, Some((pid, exit))) => {
                    return Ok(Running {
                        pid,
                        ends,
                        channel,
                        names,
                        exit,
                    });
                }
                (Some((failed, errno)), _) => {
                    return Err(spawn::start_fault(&names, failed, errno));
                }
                (None, None) => return Err(supervisor_lost()),
            }
        }
    }
}

impl Running {
    /// Returns the ends, and a future of the program's wait status. Dropping the future early kills the whole tree.
    pub fn split(self) -> (Ends, impl Future<Output = Result<i32, Fault>>) {
        let Self {
            pid,
            ends,
            channel,
            names,
            exit,
        } = self;
        let ended = async move { ending::wait(&channel, &names, pid, exit).await };
        (ends, ended)
    }
}

fn pipe() -> Result<(OwnedFd, OwnedFd), Fault> {
    pipe_with(PipeFlags::CLOEXEC).map_err(|_| spawn::no_process())
}

/// The program's end of a pipe is a file description of its own, and does not change.
fn nonblocking(fd: OwnedFd) -> Result<OwnedFd, Fault> {
    rustix::io::ioctl_fionbio(&fd, true).map_err(io::Error::from)?;
    Ok(fd)
}
