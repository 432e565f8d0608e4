//! A connection of the gate as TLS reads and writes it. Who began it keeps a part in it, so that all know when it ends.

use crate::world::Live;
use rustix::net::{Shutdown, shutdown};
use std::io::{ErrorKind, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

pub struct Socket {
    stream: Arc<TcpStream>,
    /// Bytes that were read from it before.
    first: Vec<u8>,
    /// Of the connection to a server: counts its bytes.
    counted: Option<Arc<Live>>,
}

impl Socket {
    pub fn of_client(stream: Arc<TcpStream>, first: Vec<u8>) -> Socket {
        Socket {
            stream,
            first,
            counted: None,
        }
    }

    pub fn of_server(stream: Arc<TcpStream>, live: Arc<Live>) -> Socket {
        Socket {
            stream,
            first: Vec::new(),
            counted: Some(live),
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        if !self.first.is_empty() {
            let count = self.first.len().min(buffer.remaining());
            buffer.put_slice(&self.first[..count]);
            self.first.drain(..count);
            return Poll::Ready(Ok(()));
        }
        loop {
            ready!(self.stream.poll_read_ready(context))?;
            match self.stream.try_read(buffer.initialize_unfilled()) {
                Ok(count) => {
                    buffer.advance(count);
                    if let Some(live) = &self.counted {
                        live.count_received(count);
                    }
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        loop {
            ready!(self.stream.poll_write_ready(context))?;
            match self.stream.try_write(bytes) {
                Ok(count) => {
                    if let Some(live) = &self.counted {
                        live.count_sent(count);
                    }
                    return Poll::Ready(Ok(count));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<Result<()>> {
        // The other side may have ended the connection before.
        let _ = shutdown(&*self.stream, Shutdown::Write);
        Poll::Ready(Ok(()))
    }
}
