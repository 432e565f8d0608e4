//! TLS for the writes of HTTP/2. It flushes after each frame, and each flush would cost records and a system
//! call. So its bytes are collected until the connection's turn is over.

use super::coalesced::Coalesced;
use super::socket::Socket;
use crate::bounds::GATHERED;
use std::io::{ErrorKind, Result};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsStream;

#[derive(Clone)]
pub struct Gathered(Arc<Mutex<State>>);

struct State {
    stream: Coalesced<TlsStream<Socket>>,
    bytes: Vec<u8>,
    /// Waits for room; the socket wakes only the last task that asked.
    waiting: Option<Waker>,
}

impl Gathered {
    pub fn new(stream: impl Into<TlsStream<Socket>>) -> Gathered {
        Gathered(Arc::new(Mutex::new(State {
            stream: Coalesced(stream.into()),
            bytes: Vec::new(),
            waiting: None,
        })))
    }

    /// Sends the collected bytes, at the end of each turn. HTTP/2 gets an error at its next read or write.
    pub fn send(&self, context: &mut Context<'_>) {
        let mut state = self.lock();
        let is_over = state.poll_send(context).is_ready();
        if let Some(waiting) = state.waiting.take_if(|_| is_over) {
            waiting.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        let outcome = self.poll_send(context);
        self.waiting = outcome.is_pending().then(|| context.waker().clone());
        outcome
    }

    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        let mut sent = 0;
        let outcome = loop {
            let rest = &self.bytes[sent..];
            if rest.is_empty() {
                break Poll::Ready(Ok(()));
            }
            match Pin::new(&mut self.stream).poll_write(context, rest) {
                Poll::Ready(Ok(0)) => break Poll::Ready(Err(ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(count)) => sent += count,
                Poll::Ready(Err(error)) => break Poll::Ready(Err(error)),
                Poll::Pending => break Poll::Pending,
            }
        };
        self.bytes.drain(..sent);
        ready!(outcome)?;
        // A waiting connection holds no memory.
        self.bytes = Vec::new();
        Pin::new(&mut self.stream).poll_flush(context)
    }
}

impl AsyncRead for Gathered {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.lock().stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Gathered {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        let mut state = self.lock();
        if state.bytes.len() >= GATHERED {
            ready!(state.poll_room(context))?;
        }
        let room = GATHERED - state.bytes.len();
        let count = bytes.len().min(room);
        state.bytes.reserve_exact(room);
        state.bytes.extend_from_slice(&bytes[..count]);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let mut state = self.lock();
        ready!(state.poll_room(context))?;
        Pin::new(&mut state.stream).poll_shutdown(context)
    }
}
