//! Changes and queries of the firewall without a program: messages for the kernel, which answers before the
//! call returns.
//!
//! One socket serves all of them. The kernel waits for all processors (10 ms) when a socket is closed after a
//! change with removals.

use rustix::io::Errno;
use rustix::net::sockopt::{set_socket_recv_buffer_size_force, set_socket_send_buffer_size_force};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};
use std::io::{Error, Result};
use std::os::fd::OwnedFd;

/// More than an answer of the kernel, whose lists come in parts of 32 KiB.
const ANSWER_BYTES: usize = 64 << 10;
/// Room for the longest request, a frame, and for the answers to one.
const SOCKET_BYTES: usize = 16 << 20;
/// Length, type, flags, sequence and port of a message.
const HEADER_BYTES: usize = 16;
/// Type of an answer with an error, or with 0 for none.
const ERROR: u16 = 2;
/// Type of the last message of a list, with an error or 0.
const DONE: u16 = 3;
/// Flag of a list that a change has interrupted.
const INTERRUPTED: u16 = 0x10;
const TRIES: usize = 10;

/// The socket to the kernel, opened at its first use.
#[derive(Default)]
pub struct Netfilter {
    socket: Option<OwnedFd>,
}

impl Netfilter {
    /// Sends a batch of changes, or one query, whose last message asks for an answer, and returns the
    /// kernel's answers. Fails with the first error, after which no change of a batch is in force.
    pub fn exchange(&mut self, messages: &[u8]) -> Result<Vec<u8>> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.exchange_once(messages) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted && tries < TRIES => {}
                result => return result,
            }
        }
    }

    fn exchange_once(&mut self, messages: &[u8]) -> Result<Vec<u8>> {
        // Until all answers are read, no other request may use the socket.
        let socket = match self.socket.take() {
            Some(socket) => socket,
            None => open()?,
        };
        send(&socket, messages, SendFlags::empty())?;
        let mut answers = Answers::default();
        let mut buffer = vec![0; ANSWER_BYTES];
        loop {
            match recv(&socket, &mut buffer, RecvFlags::DONTWAIT) {
                Ok((read, _)) => answers
                    .take(buffer.get(..read).unwrap_or_default())
                    .ok_or(Error::from(Errno::PROTO))?,
                Err(Errno::AGAIN) if answers.is_complete => break,
                Err(error) => return Err(error.into()),
            }
        }
        self.socket = Some(socket);
        match answers.error {
            0 => Ok(answers.messages),
            error => Err(Error::from_raw_os_error(-error)),
        }
    }
}

fn open() -> Result<OwnedFd> {
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        Some(netlink::NETFILTER),
    )?;
    set_socket_send_buffer_size_force(&socket, SOCKET_BYTES)?;
    set_socket_recv_buffer_size_force(&socket, SOCKET_BYTES)?;
    Ok(socket)
}

/// The kernel's answers to one request.
#[derive(Default)]
struct Answers {
    /// All messages but those that only end or acknowledge.
    messages: Vec<u8>,
    /// The first error; 0 without one.
    error: i32,
    is_complete: bool,
}

impl Answers {
    /// Takes the messages of one piece; None where it is cut off.
    fn take(&mut self, mut piece: &[u8]) -> Option<()> {
        while !piece.is_empty() {
            let length = u32::from_ne_bytes(piece.get(..4)?.try_into().ok()?) as usize;
            let kind = u16::from_ne_bytes(piece.get(4..6)?.try_into().ok()?);
            let flags = u16::from_ne_bytes(piece.get(6..8)?.try_into().ok()?);
            let message = piece.get(HEADER_BYTES..length)?;
            let mut error = 0;
            if flags & INTERRUPTED != 0 {
                error = -Errno::INTR.raw_os_error();
            }
            if kind == ERROR || kind == DONE {
                self.is_complete = true;
                error = match i32::from_ne_bytes(message.get(..4)?.try_into().ok()?) {
                    0 => error,
                    other => other,
                };
            } else {
                let padded = piece.get(..length.next_multiple_of(4)).unwrap_or(piece);
                self.messages.extend_from_slice(padded);
            }
            if self.error == 0 {
                self.error = error;
            }
            piece = piece.get(length.next_multiple_of(4)..).unwrap_or_default();
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u16, flags: u16, value: i32) -> Vec<u8> {
        let mut bytes = 20u32.to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(flags.to_ne_bytes());
        bytes.extend([0; 8]);
        bytes.extend(value.to_ne_bytes());
        bytes
    }

    fn taken(piece: &[u8]) -> Answers {
        let mut answers = Answers::default();
        answers.take(piece).expect("whole");
        answers
    }

    #[test]
    fn the_first_error_of_an_answer_counts() {
        let answers = taken(&[message(2, 0, 0), message(2, 0, -17), message(2, 0, -2)].concat());
        assert_eq!((answers.error, answers.is_complete), (-17, true));
        let none = taken(&[]);
        assert_eq!((none.error, none.is_complete), (0, false));
    }

    #[test]
    fn messages_are_those_that_neither_end_nor_acknowledge() {
        let found = message(0xa0c, 2, 5);
        let answers = taken(&[found.clone(), found.clone(), message(3, 2, 0)].concat());
        assert_eq!(answers.messages, [found.clone(), found].concat());
        assert_eq!((answers.error, answers.is_complete), (0, true));
    }

    #[test]
    fn a_list_that_a_change_has_interrupted_is_an_error() {
        let answers = taken(&[message(0xa0c, 0x12, 5), message(3, 2, 0)].concat());
        assert_eq!(answers.error, -4);
    }

    #[test]
    fn an_answer_that_is_cut_off_has_none() {
        let answer = message(2, 0, 0);
        let mut short = message(2, 0, 0);
        short[0] = 4;
        for cut in [&answer[..18], &answer[..3], &short] {
            assert!(Answers::default().take(cut).is_none());
        }
    }

    #[test]
    fn a_request_that_the_kernel_does_not_know_fails_and_the_next_one_is_answered() {
        let mut netfilter = Netfilter::default();
        assert!(netfilter.exchange(&[0; 20]).is_err());
        // Asks for the number of the last change.
        let mut question = message(0xa10, 5, 0);
        question[16] = 1;
        assert!(!netfilter.exchange(&question).expect("an answer").is_empty());
        assert!(netfilter.socket.is_some());
        assert!(!netfilter.exchange(&question).expect("an answer").is_empty());
    }
}
