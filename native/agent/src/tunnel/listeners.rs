//! The state that the operations of this folder share: connections that wait for the host, buffers of relays, and the
//! count of relays.

use std::cell::Cell;

use super::buffers::Buffers;
use super::waiting::Waiting;
use crate::wire::fault::{Code, Fault};

/// Most relayed connections at once; the agent's other connections are for all other operations.
const MAX_TUNNELS: usize = 320;

#[derive(Default)]
pub struct Listeners {
    pub waiting: Waiting,
    pub buffers: Buffers,
    tunnels: Cell<usize>,
}

/// Counts a relayed connection for as long as it lives.
pub struct Turn<'a>(&'a Listeners);

impl Listeners {
    pub fn turn(&self) -> Result<Turn<'_>, Fault> {
        let open = self.tunnels.get();
        if open >= MAX_TUNNELS {
            return Err(Fault::new(
                Code::ResourceExhausted,
                format!("{open} connections into the sandbox are open."),
            )
            .hint("Close some of them, then try again."));
        }
        self.tunnels.set(open + 1);
        Ok(Turn(self))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let left = self.0.tunnels.get() - 1;
        self.0.tunnels.set(left);
        if left == 0 {
            self.0.buffers.clear();
        }
    }
}
