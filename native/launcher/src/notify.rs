//! `notify SOCKET`: hands messages to the service manager that started the service. Node has no datagram sockets of the
//! local family. One process serves for all messages, so a sign of life costs no start of a program.
//!
//! Messages come on standard input, each ended by a null byte; the end of standard input is the service's.

use crate::failure::{Failure, Step};
use rustix::io::Errno;
use std::io::{BufRead, stdin};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// The manager reads no more of one message.
const MESSAGE_BYTES: usize = 4096;

pub fn run(socket: &str) -> Result<(), Failure> {
    let address = match socket.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(socket),
    }
    .step("read the address of the manager")?;
    let sender = UnixDatagram::unbound().step("open a socket")?;
    let mut input = stdin().lock();
    let mut message = Vec::new();
    while input.read_until(0, &mut message).step("read a message")? > 0 {
        if message.pop() != Some(0) {
            return Ok(());
        }
        message.truncate(MESSAGE_BYTES);
        send(&sender, &message, &address);
        message.clear();
    }
    Ok(())
}

/// A manager that is away for a moment, as while it replaces itself, gets the next message.
fn send(sender: &UnixDatagram, message: &[u8], address: &SocketAddr) {
    while let Err(error) = sender.send_to_addr(message, address) {
        if error.raw_os_error() != Some(Errno::INTR.raw_os_error()) {
            eprintln!("sandhaven-launcher: send to the manager: {error}");
            return;
        }
    }
}
