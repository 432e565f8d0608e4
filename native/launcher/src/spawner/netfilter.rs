//! Changes of the firewall without a program: one batch for the kernel, which answers before it returns.

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};
use std::io::{Error, Result};

const ANSWER_BYTES: usize = 8 << 10;
/// Length, type, flags, sequence and port of a message.
const HEADER_BYTES: usize = 16;
/// Type of an answer with an error, or with 0 for none.
const ERROR: u16 = 2;

/// Fails with the first error of the batch, of which nothing is in force then. Each message of it asks for an answer.
pub fn apply(batch: &[u8]) -> Result<()> {
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        Some(netlink::NETFILTER),
    )?;
    send(&socket, batch, SendFlags::empty())?;
    let mut answered = false;
    let mut buffer = [0; ANSWER_BYTES];
    loop {
        let answer = match recv(&socket, &mut buffer, RecvFlags::DONTWAIT) {
            Ok((read, _)) => buffer.get(..read).unwrap_or_default(),
            Err(Errno::AGAIN) if answered => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        for error in errors(answer).ok_or(Error::from(Errno::PROTO))? {
            if error != 0 {
                return Err(Error::from_raw_os_error(-error));
            }
            answered = true;
        }
    }
}

/// Reads the errors of the messages in an answer; None where it is cut off.
fn errors(mut answer: &[u8]) -> Option<Vec<i32>> {
    let mut errors = Vec::new();
    while !answer.is_empty() {
        let length = u32::from_ne_bytes(answer.get(..4)?.try_into().ok()?) as usize;
        let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
        let message = answer.get(HEADER_BYTES..length)?;
        if kind == ERROR {
            errors.push(i32::from_ne_bytes(message.get(..4)?.try_into().ok()?));
        }
        answer = answer.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Some(errors)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u16, error: i32) -> Vec<u8> {
        let mut bytes = 20u32.to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend([0; 10]);
        bytes.extend(error.to_ne_bytes());
        bytes
    }

    #[test]
    fn each_message_of_an_answer_has_its_error() {
        let answer = [message(2, 0), message(2, -17), message(3, 5)].concat();
        assert_eq!(errors(&answer), Some(vec![0, -17]));
        assert_eq!(errors(&[]), Some(Vec::new()));
    }

    #[test]
    fn an_answer_that_is_cut_off_has_none() {
        let answer = message(2, 0);
        assert_eq!(errors(&answer[..18]), None);
        assert_eq!(errors(&answer[..3]), None);
        let mut short = message(2, 0);
        short[0] = 4;
        assert_eq!(errors(&short), None);
    }

    #[test]
    fn a_batch_that_the_kernel_does_not_know_fails() {
        assert!(apply(&[0; 20]).is_err());
    }
}
