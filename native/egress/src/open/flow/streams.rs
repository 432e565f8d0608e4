//! Streams of one opened connection. HTTP/2 has a future for each, and all run in the connection's own task.
//! So none outlives the connection, and no piece of a body waits for another thread.

use super::gathered::Gathered;
use super::socket::Socket;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use hyper::rt::Executor;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use tokio_rustls::TlsStream;

type Stream = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Takes new streams of either side.
#[derive(Clone, Default)]
pub struct Arriving(Arc<Mutex<Vec<Stream>>>);

/// All streams of a connection. Dropping it ends them.
#[derive(Default)]
pub struct Streams {
    pub arriving: Arriving,
    open: FuturesUnordered<Stream>,
    outputs: Vec<Gathered>,
}

impl Streams {
    /// Makes the output of a side that speaks HTTP/2.
    pub fn output(&mut self, stream: impl Into<TlsStream<Socket>>) -> Gathered {
        let output = Gathered::new(stream);
        self.outputs.push(output.clone());
        output
    }

    /// Polls all streams, and sends their output.
    pub fn poll(&mut self, context: &mut Context<'_>) {
        self.go_on(context);
        for output in &self.outputs {
            output.send(context);
        }
    }

    fn go_on(&mut self, context: &mut Context<'_>) {
        loop {
            // A stream may add another one, so the lock is not held here.
            let new = std::mem::take(&mut *self.arriving.lock());
            self.open.extend(new);
            match self.open.poll_next_unpin(context) {
                Poll::Ready(Some(())) => {}
                _ if self.arriving.lock().is_empty() => return,
                _ => {}
            }
        }
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        // Streams refer to the list that holds them, so the cycle is broken here.
        let left = std::mem::take(&mut *self.arriving.lock());
        drop(left);
    }
}

impl Arriving {
    fn lock(&self) -> MutexGuard<'_, Vec<Stream>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<F: Future<Output: Send> + Send + 'static> Executor<F> for Arriving {
    fn execute(&self, stream: F) {
        self.lock().push(Box::pin(async move {
            stream.await;
        }));
    }
}
