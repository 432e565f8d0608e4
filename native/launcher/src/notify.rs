//! `notify SOCKET [NAME…]`: hands messages to the service manager that started the service. Node has no
//! datagram sockets of the local family. One process sends all messages, so a watchdog message starts no
//! program.
//!
//! Messages come on standard input, each ended by a null byte; the end of standard input is the service's. Descriptors
//! from 3 on are sockets with these names, which the manager keeps for the next start.

use crate::failure::{Failure, Step};
use rustix::io::{Errno, IoSlice};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use std::io::{BufRead, stdin};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, FromRawFd, OwnedFd, RawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Most bytes that the manager reads of one message.
const MESSAGE_BYTES: usize = 4096;
const FIRST_KEPT: RawFd = 3;

pub fn run(socket: &str, kept: &[String]) -> Result<(), Failure> {
    let address = match socket.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(socket),
    }
    .step("read the address of the manager")?;
    keep(kept, &address);
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

/// Closes the sockets here whether the manager takes them or not: a copy would listen when the service no longer does.
fn keep(names: &[String], address: &SocketAddr) {
    for (name, descriptor) in names.iter().zip(FIRST_KEPT..) {
        // SAFETY: the service starts this program with one descriptor for each name, and nothing here has opened any.
        let socket = unsafe { OwnedFd::from_raw_fd(descriptor) };
        if let Err(error) = hand_over(name, &socket, address) {
            eprintln!("sandhaven-launcher: hand {name} to the manager: {error}");
        }
    }
}

fn hand_over(name: &str, socket: &OwnedFd, address: &SocketAddr) -> std::io::Result<()> {
    let sender = UnixDatagram::unbound()?;
    sender.connect_addr(address)?;
    let message = format!("FDSTORE=1\nFDNAME={name}");
    let sockets = [socket.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&sockets));
    sendmsg(
        &sender,
        &[IoSlice::new(message.as_bytes())],
        &mut control,
        SendFlags::NOSIGNAL,
    )?;
    Ok(())
}

/// A manager may be away for a moment, as while it replaces itself; the next message reaches it.
fn send(sender: &UnixDatagram, message: &[u8], address: &SocketAddr) {
    while let Err(error) = sender.send_to_addr(message, address) {
        if error.raw_os_error() != Some(Errno::INTR.raw_os_error()) {
            eprintln!("sandhaven-launcher: send to the manager: {error}");
            return;
        }
    }
}
