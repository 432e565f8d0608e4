//! Reports of PID 1 to the launcher: a pipe that executing the agent closes, and that carries the step that failed.

use crate::failure::{Failure, Step, failed};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::pipe::{PipeFlags, pipe_with};
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;

/// Sent right before the agent is executed. An end without it means that the process was killed before.
const READY: u8 = b'R';
/// Above the standard streams and the agent's socket.
const FIRST: i32 = 10;

pub struct Reporter(OwnedFd);

pub fn pair() -> Result<(OwnedFd, Reporter), Failure> {
    let (reports, reporter) = pipe_with(PipeFlags::CLOEXEC).step("make a pipe")?;
    let reporter = fcntl_dupfd_cloexec(&reporter, FIRST).step("move a pipe")?;
    Ok((reports, Reporter(reporter)))
}

impl Reporter {
    pub fn ready(&self) -> Result<(), Failure> {
        rustix::io::write(&self.0, &[READY])
            .map(|_| ())
            .step("report")
    }

    /// Ends this process without running the handlers of its parent.
    pub fn fail(&self, failure: &Failure) -> ! {
        let _ = rustix::io::write(&self.0, &failure.encode());
        // SAFETY: _exit takes a number and does not return.
        unsafe { libc::_exit(1) }
    }
}

/// Waits until the agent is executed.
pub fn wait(reports: OwnedFd) -> Result<(), Failure> {
    let mut text = Vec::new();
    File::from(reports)
        .read_to_end(&mut text)
        .step("wait for the machine's first process")?;
    judge(&text)
}

fn judge(text: &[u8]) -> Result<(), Failure> {
    let (is_ready, failure) = match text.split_first() {
        Some((&READY, rest)) => (true, rest),
        _ => (false, text),
    };
    match (is_ready, Failure::decode(failure)) {
        (true, None) => Ok(()),
        (false, None) => Err(failed(
            "the machine's first process was ended during its start",
        )),
        (_, Some(failure)) => Err(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_over_when_the_pipe_closes_after_its_last_step() {
        assert!(judge(b"R").is_ok());
        assert!(judge(b"").is_err());
        let failure = failed("mount /proc: no").encode();
        for before in [&b""[..], b"R"] {
            let end = judge(&[before, &failure].concat()).expect_err("a failure");
            assert_eq!(end.encode(), failure);
        }
    }
}
