//! The channel to a context's interpreter. Every message ends in NUL: to it the variables and the code of a run, from it JSON. The code that it
//! runs may write anything there, so all of it is bounded, and the host trusts none of it.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::Notify;

const MAX_MESSAGE_BYTES: usize = 4 << 20;
const READ_BYTES: usize = 64 << 10;
const MAX_NAME_BYTES: usize = 1 << 10;
const MAX_TEXT_BYTES: usize = 1 << 20;

/// The agent's end.
pub struct Control {
    pub incoming: Incoming,
    outgoing: OwnedWriteHalf,
    /// A text was sent in part.
    pub torn: Cell<bool>,
}

pub struct Incoming {
    stream: OwnedReadHalf,
    received: Vec<u8>,
    /// So many of the first bytes hold no NUL.
    searched: usize,
}

/// The channel is closed, or what came is no message.
pub struct Broken;

pub type Taken = Result<Message, Broken>;

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// It waits for its first text.
    Ready,
    /// The run has begun: from now on it can be interrupted.
    Begun,
    /// A result to show: a bundle of types and data.
    Display(Box<RawValue>),
    /// The run has ended.
    Done(Done),
}

#[derive(Default, Deserialize, Serialize)]
pub struct Done {
    #[serde(default)]
    pub error: Option<Raised>,
    /// Of a shell's last command.
    #[serde(default)]
    pub exit_code: Option<u8>,
}

#[derive(Deserialize, Serialize)]
pub struct Raised {
    name: String,
    value: String,
    traceback: String,
}

impl Control {
    /// Returns the agent's end and the interpreter's.
    pub fn pair() -> io::Result<(Self, OwnedFd)> {
        let (own, other) = StdStream::pair()?;
        own.set_nonblocking(true)?;
        let (stream, outgoing) = UnixStream::from_std(own)?.into_split();
        let control = Self {
            incoming: Incoming {
                stream,
                received: Vec::new(),
                searched: 0,
            },
            outgoing,
            torn: Cell::new(false),
        };
        Ok((control, other.into()))
    }

    /// Returns what comes, and the sending of a text, and of `go` once that is wanted. What is sent in part has to be sent to its end.
    pub fn talk(&mut self, text: &[u8], go: &Notify) -> (&mut Incoming, impl Future<Output = ()>) {
        let Self {
            incoming,
            outgoing,
            torn,
        } = self;
        let sending = async move {
            torn.set(true);
            // Where nobody reads any more, the end is noticed by what comes.
            let _ = outgoing.write_all(text).await;
            torn.set(false);
            go.notified().await;
            torn.set(true);
            let _ = outgoing.write_all(b"go\0").await;
            torn.set(false);
        };
        (incoming, sending)
    }
}

impl Incoming {
    /// Returns the next message of those that are there; None where there is none yet. Call it until then.
    pub fn take_now(&mut self) -> Option<Taken> {
        loop {
            if let Some(taken) = self.cut() {
                return Some(taken);
            }
            let mut buffer = [0; READ_BYTES];
            // Not by the stream, which may not know yet that something is there.
            match rustix::io::read(self.as_fd(), &mut buffer[..]) {
                Ok(length) if length > 0 => self.received.extend_from_slice(&buffer[..length]),
                Err(rustix::io::Errno::AGAIN) => return None,
                Err(rustix::io::Errno::INTR) => {}
                _ => return Some(Err(Broken)),
            }
        }
    }

    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_ref().as_fd()
    }

    fn cut(&mut self) -> Option<Taken> {
        let unsearched = &self.received[self.searched..];
        if let Some(end) = unsearched.iter().position(|byte| *byte == 0) {
            let rest = self.received.split_off(self.searched + end + 1);
            let message = std::mem::replace(&mut self.received, rest);
            self.searched = 0;
            return Some(parse(&message[..message.len() - 1]).ok_or(Broken));
        }
        self.searched = self.received.len();
        (self.searched > MAX_MESSAGE_BYTES).then_some(Err(Broken))
    }

    /// Awaits the next message; None when the other end is closed, or sends what is none. May be dropped and called again.
    pub async fn next(&mut self) -> Option<Message> {
        loop {
            if let Some(taken) = self.cut() {
                return taken.ok();
            }
            self.stream.readable().await.ok()?;
            let mut buffer = [0; READ_BYTES];
            match self.stream.try_read(&mut buffer) {
                Ok(0) => return None,
                Ok(length) => self.received.extend_from_slice(&buffer[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return None,
            }
        }
    }
}

fn parse(message: &[u8]) -> Option<Message> {
    let mut message = serde_json::from_slice(message).ok()?;
    if let Message::Done(Done {
        error: Some(error), ..
    }) = &mut message
    {
        clip(&mut error.name, MAX_NAME_BYTES);
        clip(&mut error.value, MAX_TEXT_BYTES);
        clip(&mut error.traceback, MAX_TEXT_BYTES);
    }
    Some(message)
}

fn clip(text: &mut String, bytes: usize) {
    text.truncate(text.floor_char_boundary(bytes));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(message: &[u8]) -> &'static str {
        match parse(message) {
            Some(Message::Ready) => "ready",
            Some(Message::Begun) => "begun",
            Some(Message::Display(_)) => "display",
            Some(Message::Done(_)) => "done",
            None => "none",
        }
    }

    #[test]
    fn what_is_no_message_is_none() {
        assert_eq!(kind(br#""ready""#), "ready");
        assert_eq!(kind(br#""begun""#), "begun");
        assert_eq!(kind(br#"{"display":{"type":"result"}}"#), "display");
        assert_eq!(kind(br#"{"done":{"error":null}}"#), "done");
        assert_eq!(kind(br#"{"done":{"exit_code":255}}"#), "done");
        for wrong in [
            b"".as_slice(),
            b"{}",
            br#"{"done":{"exit_code":256}}"#,
            br#"{"done":{"error":{"name":1}}}"#,
            b"\xff",
            b"nonsense",
        ] {
            assert_eq!(kind(wrong), "none");
        }
    }

    #[test]
    fn texts_of_an_error_are_clipped_between_characters() {
        let message = format!(
            r#"{{"done":{{"error":{{"name":"x{}","value":"","traceback":""}}}}}}"#,
            "é".repeat(1_000)
        );
        let Some(Message::Done(Done {
            error: Some(error), ..
        })) = parse(message.as_bytes())
        else {
            panic!("no error");
        };
        assert_eq!(error.name.len(), 1_023);
    }

    #[tokio::test]
    async fn a_message_without_end_is_a_breach() {
        let (mut control, other) = Control::pair().unwrap();
        let mut other = StdStream::from(other);
        let writer = std::thread::spawn(move || {
            let _ = std::io::Write::write_all(&mut other, &vec![b'x'; 5 << 20]);
        });
        assert!(control.incoming.next().await.is_none());
        drop(control);
        writer.join().unwrap();
    }
}
