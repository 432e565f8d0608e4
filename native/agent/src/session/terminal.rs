//! The terminal that a session's commands have as standard input. It takes typed input, and output that
//! bypasses stdout and stderr, such as the prompt for a password.

use rustix::io::Errno;
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr,
};
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;
use tokio::io::unix::AsyncFd;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

use crate::exec::terminal::{self, Size};
use crate::init::readiness::readable;
use crate::wire::fault::{Code, Fault};

/// Most bytes of a line without its newline: the kernel holds no more while a program reads by lines.
const MAX_LINE_BYTES: usize = 4_095;
/// Time for the program to read input that does not fit at once.
const INPUT_PATIENCE: Duration = Duration::from_secs(5);
const INPUT_PAUSE: Duration = Duration::from_millis(10);
const SIZE: Size = Size {
    columns: 80,
    rows: 24,
};
/// Reads in a row, before others get their turn.
const READS: usize = 64;
const END_OF_INPUT: u8 = 4;

pub struct Terminal {
    master: AsyncFd<OwnedFd>,
    /// Kept open, so that the terminal lasts while no program has it.
    slave: OwnedFd,
    /// The modes that every command begins with.
    modes: Termios,
    typing: Mutex<()>,
}

impl Terminal {
    pub fn open() -> Result<Self, Fault> {
        let opened = terminal::open(SIZE)?;
        terminal::make_quiet(&opened.slave)?;
        rustix::io::ioctl_fionbio(&opened.master, true).map_err(io::Error::from)?;
        Ok(Self {
            modes: tcgetattr(&opened.slave).map_err(io::Error::from)?,
            master: readable(opened.master)?,
            slave: opened.slave,
            typing: Mutex::new(()),
        })
    }

    pub fn slave(&self) -> io::Result<OwnedFd> {
        self.slave.try_clone()
    }

    /// Resolves after output was printed and `take` got some of it. May be dropped and called again.
    pub async fn printed(&self, take: impl FnMut(&[u8])) {
        match self.master.readable().await {
            Ok(mut ready) => {
                if self.take_printed(take) {
                    ready.clear_ready();
                }
            }
            Err(_) => std::future::pending().await,
        }
    }

    /// Returns true when no output is left.
    pub fn take_printed(&self, mut take: impl FnMut(&[u8])) -> bool {
        let mut buffer = [0; 4_096];
        for _ in 0..READS {
            match rustix::io::read(self.master.get_ref(), &mut buffer) {
                Ok(0) => return true,
                Ok(length) => take(&buffer[..length]),
                Err(Errno::INTR) => {}
                Err(_) => return true,
            }
        }
        false
    }

    /// Prepares the terminal for the next command: drops input of the last one, and restores the first modes.
    pub fn reset(&self) {
        let _ = tcflush(self.master.get_ref(), QueueSelector::OFlush);
        let _ = tcflush(&self.slave, QueueSelector::IFlush);
        let _ = tcsetattr(&self.slave, OptionalActions::Now, &self.modes);
    }

    /// Types `input` while `wanted` returns true.
    pub async fn type_in(&self, input: &[u8], wanted: impl Fn() -> bool) -> Result<(), Fault> {
        let _turn = self.typing.lock().await;
        self.check_lines(input)?;
        let deadline = Instant::now() + INPUT_PATIENCE;
        let mut rest = input;
        while !rest.is_empty() && wanted() {
            match rustix::io::write(self.master.get_ref(), rest) {
                Ok(length) => rest = &rest[length..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if Instant::now() < deadline => sleep(INPUT_PAUSE).await,
                Err(Errno::AGAIN) => return Err(not_read(input.len() - rest.len(), input.len())),
                Err(errno) => return Err(io::Error::from(errno).into()),
            }
        }
        Ok(())
    }

    /// While a program reads by lines, the kernel would silently cut a longer line.
    fn check_lines(&self, input: &[u8]) -> Result<(), Fault> {
        let modes = tcgetattr(&self.slave).map_err(io::Error::from)?;
        if !modes.local_modes.contains(LocalModes::ICANON) {
            return Ok(());
        }
        let returns = modes.input_modes.contains(InputModes::ICRNL);
        let ends = |byte: &u8| matches!(*byte, b'\n' | END_OF_INPUT) || (returns && *byte == b'\r');
        let longest = input.split(ends).map(<[u8]>::len).max().unwrap_or(0);
        if longest <= MAX_LINE_BYTES {
            return Ok(());
        }
        Err(Fault::invalid(
            "input",
            format!(
                "A terminal takes lines of at most {MAX_LINE_BYTES} bytes; one of {longest} was given."
            ),
        )
        .hint("Send shorter lines, or write the input to a file and let the command read that."))
    }
}

fn not_read(taken: usize, length: usize) -> Fault {
    Fault::new(
        Code::FailedPrecondition,
        format!("The command reads no input: {taken} of {length} bytes were taken."),
    )
    .hint("Wait until it asks for input, which Sandbox.GetSessionCommandLogs shows.")
}
