//! An SFTP server of version 3 on standard input and output. The agent runs itself a second time for it, so
//! here calls may block, and whatever goes wrong ends one connection.

mod attributes;
mod failure;
mod fields;
mod files;
mod folders;
mod handles;
mod long_name;
mod paths;
mod replies;
mod request;
mod server;

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::process::ExitCode;

/// How the agent calls itself to become one.
pub const ARGV: [&str; 2] = ["sandhaven-agent", "--sftp-server"];

/// Of a packet, either way, without its length.
const MAX_PACKET_BYTES: usize = 256 << 10;
/// Of one read or write, with room for the rest of the packet.
const MAX_DATA_BYTES: usize = MAX_PACKET_BYTES - 1024;
const MAX_HANDLES: usize = 256;

/// Whether this process is one: asked before anything that PID 1 does.
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
