//! Runs the commands of one session, one after another, for as long as its shell lives.

use std::rc::Rc;
use std::time::Duration;
use tokio::task::spawn_local;
use tokio::time::sleep;

use super::control::Message;
use super::fifos::{self, Fifos, Folder};
use super::record::Record;
use super::registry::Registry;
use super::shell::Shell;
use super::state::{NOT_RUN_EXIT_CODE, Queued, Session};
use super::terminal::Terminal;
use crate::exec::pipes::Outputs;
use crate::init::workers::Workers;

/// Bytes of output after which the logs are trimmed to their bound again.
const TRIM_BYTES: usize = 256 << 10;
/// Attempts, since a program may clear the folder of temporary files just before bash opens the FIFOs.
const ATTEMPTS: usize = 3;
/// Pause between two reads of the output of background children: a child that prints without end mostly waits.
const LINGER_PAUSE: Duration = Duration::from_millis(20);

pub struct Driver {
    pub registry: Rc<Registry>,
    pub workers: Rc<Workers>,
    pub session: Rc<Session>,
    pub terminal: Rc<Terminal>,
    pub shell: Shell,
    /// Status of the last command, which the next one has as `$?`.
    pub status: i32,
}

enum Ran {
    /// The command ended with this status.
    Done(i32),
    /// Bash found no outputs.
    NotOpened,
    /// The shell ended with the command, with this code.
    ShellEnded(i32),
}

impl Driver {
    /// Closes the session when the shell has ended.
    pub async fn drive(mut self) {
        let session = Rc::clone(&self.session);
        let terminal = Rc::clone(&self.terminal);
        loop {
            let next = tokio::select! {
                biased;
                _ = self.shell.end.code() => break,
                next = session.next() => next,
                () = terminal.printed(|_| {}) => continue,
            };
            if self.run(next).await.is_none() {
                break;
            }
        }
        session.close();
        self.registry.forget_closed();
    }

    /// None when the shell has ended.
    async fn run(&mut self, Queued { record, text }: Queued) -> Option<()> {
        for _ in 0..ATTEMPTS {
            let Ok(fifos) = fifos::make(&self.workers).await else {
                continue;
            };
            match self.attempt(&record, &text, fifos).await {
                Ran::Done(status) => {
                    self.status = status;
                    self.finish(status);
                    return Some(());
                }
                Ran::ShellEnded(code) => {
                    self.finish(code);
                    return None;
                }
                Ran::NotOpened => {}
            }
        }
        record.print(
            1,
            b"The command did not run: the sandbox has no room left for its output.\n",
        );
        self.status = NOT_RUN_EXIT_CODE;
        self.finish(NOT_RUN_EXIT_CODE);
        Some(())
    }

    fn finish(&self, exit_code: i32) {
        self.terminal.reset();
        self.session.complete(exit_code);
        self.registry.note_end();
        self.registry.trim();
    }

    async fn attempt(&mut self, record: &Rc<Record>, text: &str, fifos: Fifos) -> Ran {
        let Fifos {
            folder,
            stdout,
            stderr,
        } = fifos;
        let captures = Rc::clone(record.captures());
        let Ok(mut outputs) = Outputs::into_captures(stdout, stderr, captures) else {
            return Ran::NotOpened;
        };
        let _ = self
            .shell
            .control
            .command(self.status, &folder.path, text)
            .await;
        let ran = self.follow(record, &mut outputs, folder).await;
        outputs.drain();
        self.terminal.take_printed(|bytes| record.print(0, bytes));
        if !matches!(ran, Ran::NotOpened)
            && !outputs.at_end()
            && let Some(place) = self.registry.enter_lingering()
        {
            spawn_local(linger(
                outputs,
                Rc::clone(record),
                Rc::clone(&self.registry),
                place,
            ));
        }
        ran
    }

    /// Collects the command's output until the command ends.
    async fn follow(&mut self, record: &Record, outputs: &mut Outputs, folder: Folder) -> Ran {
        let Shell { control, end } = &mut self.shell;
        let mut folder = Some(folder);
        let mut listening = true;
        let mut trimmed = 0;
        loop {
            tokio::select! {
                biased;
                message = control.next(), if listening => match message {
                    Some(Message::Open) => {
                        fifos::keep_order(&self.workers, end.pid).await;
                        let _ = control.begin().await;
                        drop(folder.take());
                    }
                    Some(Message::Done(_)) if folder.is_some() => return Ran::NotOpened,
                    Some(Message::Done(status)) => return Ran::Done(status),
                    // The command has replaced the shell, or writes to its channel: only the end of the
                    // process counts now.
                    Some(Message::Ready) | None => listening = false,
                },
                code = end.code() => return Ran::ShellEnded(code),
                () = self.terminal.printed(|bytes| record.print(0, bytes)) => {}
                pumped = outputs.pump_once() => if pumped.is_err() {
                    // No more output can be read; the command continues to its end.
                    return Ran::ShellEnded(end.code().await);
                },
            }
            if record.kept() > trimmed + TRIM_BYTES {
                self.registry.trim();
                trimmed = record.kept();
            }
        }
    }
}

/// Adds the output of background children after the end of their command to that command's log.
async fn linger(mut outputs: Outputs, record: Rc<Record>, registry: Rc<Registry>, _place: Rc<()>) {
    outputs.leave_exact_order();
    let mut trimmed = record.kept();
    while !outputs.at_end() && outputs.pump_once().await.is_ok() {
        if record.kept() > trimmed + TRIM_BYTES {
            registry.trim();
            trimmed = record.kept();
        }
        sleep(LINGER_PAUSE).await;
    }
}
