//! A rtnetlink socket of the network namespace in which it is opened.

use super::message::{Message, parse_answer};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with,
};
use std::io;
use std::os::fd::OwnedFd;

/// NETLINK_ROUTE is the number 0, for which there is no `Protocol`.
const ROUTE: Option<rustix::net::Protocol> = None;
/// The kernel repeats a refused request in its answer; ours are shorter than this.
const MOST_ANSWER_BYTES: usize = 4096;

pub struct Netlink {
    socket: OwnedFd,
    number: u32,
}

impl Netlink {
    pub fn open() -> io::Result<Self> {
        let socket = socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            ROUTE,
        )?;
        Ok(Netlink { socket, number: 0 })
    }

    /// Sends one request, and waits for the kernel's acknowledgement.
    pub fn ask(&mut self, request: Message) -> io::Result<()> {
        self.number += 1;
        send(
            &self.socket,
            &request.encode(self.number),
            SendFlags::empty(),
        )?;
        loop {
            let mut bytes = [0; MOST_ANSWER_BYTES];
            let (length, _) = recv(&self.socket, &mut bytes[..], RecvFlags::empty())?;
            match parse_answer(&bytes[..length]) {
                Some((number, 0)) if number == self.number => return Ok(()),
                Some((number, error)) if number == self.number => {
                    return Err(io::Error::from_raw_os_error(error));
                }
                _ => {}
            }
        }
    }
}
