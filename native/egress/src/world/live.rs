//! One open connection, to be counted, found and ended.

use super::flag::Flag;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub struct Live {
    pub number: u64,
    pub source: Ipv4Addr,
    pub sandbox: Arc<str>,
    /// Raised when it must end.
    pub stop: Flag,
    /// Raised when its sockets are closed.
    pub gone: Flag,
    sent: AtomicU64,
    received: AtomicU64,
}

impl Live {
    pub fn new(number: u64, source: Ipv4Addr, sandbox: Arc<str>) -> Live {
        Live {
            number,
            source,
            sandbox,
            stop: Flag::new(),
            gone: Flag::new(),
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
        }
    }

    pub fn count_sent(&self, bytes: usize) {
        self.sent.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub fn count_received(&self, bytes: usize) {
        self.received.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Bytes to the destination, and from it.
    pub fn bytes(&self) -> (u64, u64) {
        (
            self.sent.load(Ordering::Relaxed),
            self.received.load(Ordering::Relaxed),
        )
    }
}
