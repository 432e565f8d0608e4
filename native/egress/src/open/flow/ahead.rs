//! Bytes that are read from a socket before TLS asks for them: it asks for 4 KiB at a time.

use crate::bounds::READ_AHEAD;
use std::io::{Error, ErrorKind, Result};
use tokio::io::{Interest, ReadBuf};
use tokio::net::TcpStream;

pub struct Ahead {
    bytes: Vec<u8>,
    used: usize,
}

impl Ahead {
    pub fn new(bytes: Vec<u8>) -> Ahead {
        Ahead { bytes, used: 0 }
    }

    pub fn is_empty(&self) -> bool {
        self.used == self.bytes.len()
    }

    pub fn take(&mut self, buffer: &mut ReadBuf<'_>) {
        let rest = &self.bytes[self.used..];
        let count = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..count]);
        self.used += count;
        if self.is_empty() {
            // A waiting connection holds no memory.
            *self = Ahead::new(Vec::new());
        }
    }

    /// Reads available bytes when the buffer is empty. Returns 0 at the end.
    pub fn fill(&mut self, stream: &TcpStream) -> Result<usize> {
        let mut bytes = Vec::with_capacity(READ_AHEAD);
        let count = read(stream, &mut bytes)?;
        *self = Ahead::new(bytes);
        Ok(count)
    }
}

/// A read that leaves room in the buffer has taken all bytes, so the socket counts as not ready without a further call.
fn read(stream: &TcpStream, bytes: &mut Vec<u8>) -> Result<usize> {
    let (mut count, room) = (None, bytes.capacity());
    let tried = stream.try_io(Interest::READABLE, || {
        let read = rustix::io::read(stream, rustix::buffer::spare_capacity(bytes))?;
        count = Some(read);
        match read == 0 || read == room {
            true => Ok(()),
            false => Err(Error::from(ErrorKind::WouldBlock)),
        }
    });
    match (count, tried) {
        (Some(count), _) => Ok(count),
        (None, Err(error)) => Err(error),
        (None, Ok(())) => Ok(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::Shutdown;
    use std::time::Duration;
    use tokio::time::timeout;

    const LONG: Duration = Duration::from_secs(10);

    async fn fill(ahead: &mut Ahead, stream: &TcpStream) -> usize {
        loop {
            timeout(LONG, stream.readable()).await.unwrap().unwrap();
            match ahead.fill(stream) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                outcome => return outcome.unwrap(),
            }
        }
    }

    fn take(ahead: &mut Ahead, most: usize) -> Vec<u8> {
        let mut bytes = vec![0; most];
        let mut buffer = ReadBuf::new(&mut bytes);
        ahead.take(&mut buffer);
        buffer.filled().to_vec()
    }

    #[test]
    fn all_that_is_there_is_read_once_and_the_end_behind_it_is_seen() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(async {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let stream = TcpStream::connect(listener.local_addr().unwrap()).await;
            let (mut peer, stream) = (listener.accept().unwrap().0, stream.unwrap());
            let mut ahead = Ahead::new(Vec::new());
            for text in ["first", "second"] {
                peer.write_all(text.as_bytes()).unwrap();
                assert_eq!(fill(&mut ahead, &stream).await, text.len());
                assert_eq!(take(&mut ahead, 3), &text.as_bytes()[..3]);
                assert_eq!(take(&mut ahead, 9), &text.as_bytes()[3..]);
                assert_eq!(ahead.bytes.capacity(), 0);
            }
            peer.write_all(b"last").unwrap();
            peer.shutdown(Shutdown::Write).unwrap();
            assert_eq!(fill(&mut ahead, &stream).await, 4);
            assert_eq!(fill(&mut ahead, &stream).await, 0);
        });
    }
}
