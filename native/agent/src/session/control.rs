//! The messages between the agent and the loop in `shell.bash`. Every message ends in NUL.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;

/// A message is a word and a number. A longer one is not from the loop.
const MAX_MESSAGE_BYTES: usize = 64;

/// The agent's end.
pub struct Control {
    stream: UnixStream,
    received: Vec<u8>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Message {
    /// The loop waits for its first command.
    Ready,
    /// The command's outputs are open. The command begins after the answer.
    Open,
    /// The command has ended; with its exit status.
    Done(i32),
}

impl Control {
    /// Returns the agent's end and the shell's.
    pub fn pair() -> io::Result<(Self, OwnedFd)> {
        let (own, other) = StdStream::pair()?;
        own.set_nonblocking(true)?;
        let control = Self {
            stream: UnixStream::from_std(own)?,
            received: Vec::new(),
        };
        Ok((control, other.into()))
    }

    /// Awaits the next message; None when the shell's end is closed, or when something other than the loop
    /// writes to it. May be dropped and called again.
    pub async fn next(&mut self) -> Option<Message> {
        loop {
            if let Some(end) = self.received.iter().position(|byte| *byte == 0) {
                let rest = self.received.split_off(end + 1);
                let message = std::mem::replace(&mut self.received, rest);
                return parse(&message[..end]);
            }
            if self.received.len() > MAX_MESSAGE_BYTES {
                return None;
            }
            self.stream.readable().await.ok()?;
            let mut buffer = [0; MAX_MESSAGE_BYTES];
            match self.stream.try_read(&mut buffer) {
                Ok(0) => return None,
                Ok(length) => self.received.extend_from_slice(&buffer[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return None,
            }
        }
    }

    /// Sends bash the script that it runs, as the first message.
    pub async fn script(&mut self, text: &str) -> io::Result<()> {
        self.stream.write_all(text.as_bytes()).await?;
        self.stream.write_all(b"\0").await
    }

    /// The next command: the status before it, the folder of its outputs, its text.
    pub async fn command(&mut self, status: i32, folder: &str, text: &str) -> io::Result<()> {
        let mut message = Vec::with_capacity(folder.len() + text.len() + 16);
        for part in [status.to_string().as_str(), folder, text] {
            message.extend_from_slice(part.as_bytes());
            message.push(0);
        }
        self.stream.write_all(&message).await
    }

    /// The answer to `Open`.
    pub async fn begin(&mut self) -> io::Result<()> {
        self.stream.write_all(b"begin\0").await
    }
}

fn parse(message: &[u8]) -> Option<Message> {
    match message {
        b"ready" => Some(Message::Ready),
        b"open" => Some(Message::Open),
        _ => {
            let number = message.strip_prefix(b"done ")?;
            let status: u8 = std::str::from_utf8(number).ok()?.parse().ok()?;
            Some(Message::Done(i32::from(status)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_of_the_loop_is_none() {
        assert_eq!(parse(b"done 255"), Some(Message::Done(255)));
        for wrong in [
            b"done 256".as_slice(),
            b"done -1",
            b"done ",
            b"done",
            b"",
            b"go",
        ] {
            assert_eq!(parse(wrong), None);
        }
    }
}
