//! One program that was started for the service.

use super::frame::{Answer, Program};
use super::mounts::Mounts;
use rustix::fs::{MemfdFlags, SeekFrom, memfd_create, seek};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Error, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{ChildStderr, ChildStdout, Command, Stdio};

/// Most bytes of one answer.
const READ_BYTES: usize = 64 << 10;

pub struct Child {
    pub id: u32,
    process: std::process::Child,
    group: Pid,
    /// None once their ends are seen.
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    /// Readable at its end; None once the end was seen.
    end: Option<OwnedFd>,
}

impl Child {
    /// @param mounts Namespaces for the start of a machine.
    pub fn start(program: Program, mounts: &Mounts) -> Result<Self, Error> {
        let (name, arguments) = program
            .arguments
            .split_first()
            .ok_or_else(|| Error::from(Errno::INVAL))?;
        let variables = program.variables.iter().filter_map(|variable| {
            let bytes = variable.as_bytes();
            let at = bytes.iter().position(|&byte| byte == b'=')?;
            let (name, value) = (bytes.get(..at)?, bytes.get(at + 1..)?);
            Some([name, value].map(OsStr::from_bytes))
        });
        let of_start = is_start(name, arguments).then(|| mounts.arguments());
        let mut process = Command::new(name)
            .args(arguments)
            .args(of_start.into_iter().flatten())
            .env_clear()
            .envs(variables.map(|[name, value]| (name, value)))
            .process_group(0)
            .stdin(standard_input(&program.input)?)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let group = Pid::from_child(&process);
        let end = match pidfd_open(group, PidfdFlags::empty()) {
            Ok(end) => end,
            Err(error) => {
                let _ = kill_process_group(group, Signal::KILL);
                let _ = process.wait();
                return Err(error.into());
            }
        };
        Ok(Self {
            id: program.id,
            group,
            stdout: process.stdout.take(),
            stderr: process.stderr.take(),
            process,
            end: Some(end),
        })
    }

    /// Kills the whole process group. The child is reaped only when its end is reported, so its number is
    /// still its own.
    pub fn kill(&self) {
        let _ = kill_process_group(self.group, Signal::KILL);
    }

    /// Returns the descriptors to poll: standard output, standard error, its end.
    pub fn watched(&self) -> [Option<BorrowedFd<'_>>; 3] {
        [
            self.stdout.as_ref().map(AsFd::as_fd),
            self.stderr.as_ref().map(AsFd::as_fd),
            self.end.as_ref().map(AsFd::as_fd),
        ]
    }

    /// Its end is reported after all of its output.
    pub fn advance(&mut self, [stdout, stderr, end]: [bool; 3]) -> Vec<Answer> {
        let mut answers = Vec::new();
        if stdout {
            answers.extend(next(&mut self.stdout).map(|text| Answer::stdout(self.id, &text)));
        }
        if stderr {
            answers.extend(next(&mut self.stderr).map(|text| Answer::stderr(self.id, &text)));
        }
        if end {
            self.end = None;
        }
        if self.is_over() {
            answers.push(match self.process.wait() {
                Ok(status) => Answer::ended(self.id, status.code(), status.signal()),
                Err(error) => Answer::failed(self.id, &error),
            });
        }
        answers
    }

    pub fn is_over(&self) -> bool {
        self.watched().iter().all(Option::is_none)
    }
}

/// True for the start of a machine by the launcher.
fn is_start(name: &OsStr, arguments: &[OsString]) -> bool {
    Path::new(name).ends_with("sandhaven-launcher")
        && arguments.first().is_some_and(|command| command == "start")
}

/// None at the stream's end, which closes it.
fn next(stream: &mut Option<impl Read>) -> Option<Vec<u8>> {
    let mut text = vec![0; READ_BYTES];
    match stream.as_mut()?.read(&mut text) {
        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => None,
        Ok(length) if length > 0 => {
            text.truncate(length);
            Some(text)
        }
        _ => {
            *stream = None;
            None
        }
    }
}

/// Its standard input, in memory, so that a program which does not read blocks nobody.
fn standard_input(bytes: &[u8]) -> Result<Stdio, Error> {
    if bytes.is_empty() {
        return Ok(Stdio::null());
    }
    let mut file = File::from(memfd_create(c"input", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    seek(&file, SeekFrom::Start(0))?;
    Ok(file.into())
}
