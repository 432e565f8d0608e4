//! Reads bytes of a connection ahead, and writes.

use std::io::{Error, ErrorKind, Result};
use tokio::net::TcpStream;
use tokio::task::yield_now;

/// A connection with the bytes that were read from it and are not used yet.
pub struct Half<'a> {
    pub stream: &'a TcpStream,
    pub bytes: Vec<u8>,
    reads: usize,
}

/// After this many reads others get their turn.
const READS_A_TURN: usize = 16;

impl<'a> Half<'a> {
    pub fn new(stream: &'a TcpStream) -> Half<'a> {
        Half {
            stream,
            bytes: Vec::new(),
            reads: 0,
        }
    }

    /// Reads up to `most` more bytes. Returns 0 at the end. Cancelling it loses no byte.
    pub async fn read(&mut self, most: usize) -> Result<usize> {
        if self.bytes.is_empty() {
            // A waiting connection holds no memory.
            self.bytes = Vec::new();
        }
        self.reads = (self.reads + 1) % READS_A_TURN;
        if self.reads == 0 {
            yield_now().await;
        }
        loop {
            self.stream.readable().await?;
            let start = self.bytes.len();
            self.bytes.resize(start + most, 0);
            let outcome = self.stream.try_read(&mut self.bytes[start..]);
            self.bytes.truncate(start + *outcome.as_ref().unwrap_or(&0));
            match outcome {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                other => return other,
            }
        }
    }

    /// Writes the first bytes to another connection, and forgets them.
    pub async fn pass(&mut self, count: usize, to: &TcpStream) -> Result<()> {
        write_all(to, &self.bytes[..count]).await?;
        self.bytes.drain(..count);
        Ok(())
    }
}

pub async fn write_all(stream: &TcpStream, mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        stream.writable().await?;
        match stream.try_write(bytes) {
            Ok(0) => return Err(Error::from(ErrorKind::WriteZero)),
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
