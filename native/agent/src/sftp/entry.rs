//! The agent's program as an SFTP server on standard input and output, in a process of its own beside PID 1.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::process::ExitCode;

use super::server;

/// The arguments that make the agent's program a server.
pub const ARGV: [&str; 2] = ["sandhaven-agent", "--sftp-server"];

/// True in such a process. Checked before all work of PID 1.
pub fn is_asked_for() -> bool {
    std::env::args_os()
        .skip(1)
        .eq(ARGV[1..].iter().map(std::ffi::OsString::from))
}

/// Serves until the client is gone.
pub fn run() -> ExitCode {
    let served = own(io::stdin()).and_then(|input| {
        let output = own(io::stdout())?;
        server::serve(input, output)
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("sftp: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// Without the buffers of the standard library.
fn own(stream: impl AsFd) -> io::Result<File> {
    Ok(stream.as_fd().try_clone_to_owned()?.into())
}
