//! The host's data on its way to a program. The host sends no more than the window beyond what has been
//! reported as taken, so its control messages never wait behind data that the program does not read.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use tokio::io::unix::AsyncFd;
use tokio::sync::Notify;

/// Part of the protocol: how much the host may send ahead.
pub const WINDOW_BYTES: usize = 256 << 10;
/// Reported at once.
const REPORT_BYTES: usize = WINDOW_BYTES / 4;

#[derive(Default)]
pub struct Input {
    queue: RefCell<VecDeque<u8>>,
    /// True once the host has sent the end.
    ended: Cell<bool>,
    /// Bytes taken from the queue and not reported yet.
    taken: Cell<usize>,
    arrived: Notify,
    left: Notify,
}

pub struct WindowExceeded;

impl Input {
    pub fn push(&self, data: &[u8]) -> Result<(), WindowExceeded> {
        let mut queue = self.queue.borrow_mut();
        if self.ended.get() || queue.len() + self.taken.get() + data.len() > WINDOW_BYTES {
            return Err(WindowExceeded);
        }
        queue.extend(data);
        self.arrived.notify_one();
        Ok(())
    }

    pub fn end(&self) {
        self.ended.set(true);
        self.arrived.notify_one();
    }

    /// Resolves with the number of bytes that are free in the window again, once they are worth a message.
    /// The caller must report them.
    pub async fn taken(&self) -> usize {
        while self.taken.get() < REPORT_BYTES {
            self.left.notified().await;
        }
        self.taken.take()
    }

    /// Passes on all input, then closes `stdin`. Input for a program that no longer reads is discarded.
    pub async fn feed(&self, stdin: AsyncFd<OwnedFd>) {
        let mut stdin = Some(stdin);
        loop {
            if self.queue.borrow().is_empty() {
                if self.ended.get() {
                    return;
                }
                self.arrived.notified().await;
                continue;
            }
            let Some(pipe) = &stdin else {
                let length = self.queue.borrow().len();
                self.remove(length);
                continue;
            };
            let Ok(mut ready) = pipe.writable().await else {
                return;
            };
            let written = rustix::io::write(pipe, self.queue.borrow().as_slices().0);
            match written {
                Ok(length) => self.remove(length),
                // A terminal that no program has open takes some more, then never anything.
                Err(rustix::io::Errno::AGAIN) if ready.ready().is_write_closed() => stdin = None,
                Err(rustix::io::Errno::AGAIN) => ready.clear_ready(),
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => stdin = None,
            }
        }
    }

    fn remove(&self, length: usize) {
        self.queue.borrow_mut().drain(..length);
        self.taken.set(self.taken.get() + length);
        if self.taken.get() >= REPORT_BYTES {
            self.left.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_the_window_is_held() {
        let input = Input::default();
        assert!(input.push(&[0; WINDOW_BYTES]).is_ok());
        assert!(input.push(&[0]).is_err());
        input.remove(1);
        // The room is free once it was reported to the host.
        assert!(input.push(&[0]).is_err());
        input.taken.take();
        assert!(input.push(&[0]).is_ok());
    }

    #[test]
    fn nothing_follows_the_end() {
        let input = Input::default();
        input.end();
        assert!(input.push(b"x").is_err());
    }
}
