//! Pipes that move bytes from one socket to another without a copy. Each belongs to a connection only while it
//! has bytes in it, so that thousands of connections share a few.

use crate::bounds::{IDLE_PIPES, PIPES};
use rustix::fd::OwnedFd;
use rustix::pipe::{PipeFlags, pipe_with};
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Default)]
pub struct Pipes(Mutex<State>);

#[derive(Default)]
struct State {
    idle: Vec<Arc<Ends>>,
    leased: usize,
}

pub struct Ends {
    pub output: OwnedFd,
    pub input: OwnedFd,
}

/// A pipe, and the bytes that are in it. On drop an empty pipe is returned for reuse, and any other is closed.
pub struct Lease {
    pub ends: Arc<Ends>,
    pub bytes: usize,
    pipes: Arc<Pipes>,
}

impl Pipes {
    pub fn new() -> Arc<Pipes> {
        Arc::default()
    }

    /// None where all are in use.
    pub fn lease(self: &Arc<Pipes>) -> Option<Lease> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.leased >= PIPES {
            return None;
        }
        let ends = match state.idle.pop() {
            Some(ends) => ends,
            None => {
                let (output, input) = pipe_with(PipeFlags::NONBLOCK | PipeFlags::CLOEXEC).ok()?;
                Arc::new(Ends { output, input })
            }
        };
        state.leased += 1;
        Some(Lease {
            ends,
            bytes: 0,
            pipes: self.clone(),
        })
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut state = self.pipes.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.leased -= 1;
        if self.bytes == 0 && state.idle.len() < IDLE_PIPES {
            state.idle.push(self.ends.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_pipe_is_used_again_and_one_with_bytes_is_not() {
        let pipes = Pipes::new();
        let mut full = pipes.lease().unwrap();
        let empty = pipes.lease().unwrap();
        full.bytes = 1;
        drop((full, empty));
        let state = pipes.0.lock().unwrap();
        assert_eq!((state.idle.len(), state.leased), (1, 0));
    }
}
