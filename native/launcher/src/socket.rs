//! The agent's listening socket. It listens before the machine exists, so that the first connection of the
//! service waits in its queue instead of polling.

use crate::failure::{Failure, Step};
use rustix::fs::Mode;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with,
};
use std::ffi::OsStr;
use std::os::fd::OwnedFd;

/// Connections that may wait for the agent to accept them; the kernel lowers it to net.core.somaxconn.
const BACKLOG: i32 = 1024;

pub fn listen_at(path: &OsStr) -> Result<OwnedFd, Failure> {
    let address = SocketAddrUnix::new(path).step("name the agent's socket")?;
    let socket = socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )
    .step("make the agent's socket")?;
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).step("remove an old socket");
        }
        _ => {}
    }
    let before = rustix::process::umask(Mode::from_raw_mode(0o177));
    let bound = bind(&socket, &address);
    rustix::process::umask(before);
    bound.step("bind the agent's socket")?;
    listen(&socket, BACKLOG).step("listen on the agent's socket")?;
    Ok(socket)
}
