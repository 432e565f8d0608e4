//! A connection of the gate, as a stream for TLS. The caller keeps a reference to the connection, by which
//! the gate learns of its end.

use super::ahead::Ahead;
use crate::world::Live;
use rustix::net::{Shutdown, shutdown};
use std::io::{ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

pub struct Socket {
    stream: Arc<TcpStream>,
    /// Bytes that were read from the connection before.
    ahead: Ahead,
    /// Counts the bytes of a connection to a server.
    counted: Option<Arc<Live>>,
}

impl Socket {
    pub fn of_client(stream: Arc<TcpStream>, first: Vec<u8>) -> Socket {
        Socket {
            stream,
            ahead: Ahead::new(first),
            counted: None,
        }
    }

    pub fn of_server(stream: Arc<TcpStream>, live: Arc<Live>) -> Socket {
        Socket {
            stream,
            ahead: Ahead::new(Vec::new()),
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
        let this = &mut *self;
        while this.ahead.is_empty() {
            ready!(this.stream.poll_read_ready(context))?;
            match this.ahead.fill(&this.stream) {
                Ok(0) => return Poll::Ready(Ok(())),
                Ok(count) => {
                    if let Some(live) = &this.counted {
                        live.count_received(count);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        this.ahead.take(buffer);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        self.poll_write_vectored(context, &[IoSlice::new(bytes)])
    }

    /// TLS has several records to write at once.
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        loop {
            ready!(self.stream.poll_write_ready(context))?;
            match self.stream.try_write_vectored(pieces) {
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

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<Result<()>> {
        // The other side may have ended the connection already.
        let _ = shutdown(&*self.stream, Shutdown::Write);
        Poll::Ready(Ok(()))
    }
}
