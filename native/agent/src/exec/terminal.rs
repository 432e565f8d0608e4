//! A pseudo-terminal for a command.

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, unlockpt};
use rustix::termios::{OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};
use std::os::fd::OwnedFd;

use crate::wire::fault::{Code, END_PROCESSES, Fault};

pub struct Terminal {
    /// The agent reads the program's output here, and writes its input.
    pub master: OwnedFd,
    /// The end that the program gets.
    pub slave: OwnedFd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    pub columns: u16,
    pub rows: u16,
}

/// A new terminal in the system's default mode: it echoes, and edits by lines.
pub fn open(size: Size) -> Result<Terminal, Fault> {
    let opened = || -> rustix::io::Result<Terminal> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let name = rustix::pty::ptsname(&master, Vec::new())?;
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let slave = rustix::fs::open(name, flags, Mode::empty())?;
        Ok(Terminal { master, slave })
    };
    let terminal = opened().map_err(|errno| {
        Fault::new(
            Code::ResourceExhausted,
            format!("The sandbox has no terminal left: {errno}."),
        )
        .hint(END_PROCESSES)
    })?;
    resize(&terminal.master, size)?;
    Ok(terminal)
}

/// The foreground group gets SIGWINCH.
pub fn resize(master: &OwnedFd, size: Size) -> Result<(), Fault> {
    let size = Winsize {
        ws_col: size.columns,
        ws_row: size.rows,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(master, size).map_err(|errno| std::io::Error::from(errno).into())
}

/// Turns off the echo of input and the translation of output.
pub fn make_quiet(slave: &OwnedFd) -> Result<(), Fault> {
    use rustix::termios::{LocalModes, OutputModes};
    let mut modes = tcgetattr(slave).map_err(std::io::Error::from)?;
    modes
        .local_modes
        .remove(LocalModes::ECHO | LocalModes::ECHONL);
    modes.output_modes.remove(OutputModes::OPOST);
    tcsetattr(slave, OptionalActions::Now, &modes)
        .map_err(|errno| std::io::Error::from(errno).into())
}
