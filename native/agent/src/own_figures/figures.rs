//! The limits of this sandbox, and its use of memory and processors.

use std::time::Duration;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    pub memory_bytes: u64,
    /// Rounded up: the kernel divides time and not processors.
    pub cpus: u64,
}

#[derive(Debug, Default, PartialEq)]
pub struct Figures {
    pub limits: Limits,
    pub memory: Memory,
    pub user: Duration,
    pub system: Duration,
}

/// In bytes.
#[derive(Debug, Default, PartialEq)]
pub struct Memory {
    pub used: u64,
    pub anon: u64,
    pub file: u64,
    pub shmem: u64,
    pub mapped: u64,
    pub dirty: u64,
    pub writeback: u64,
    pub active_anon: u64,
    pub inactive_anon: u64,
    pub active_file: u64,
    pub inactive_file: u64,
    pub unevictable: u64,
    pub slab_reclaimable: u64,
    pub slab_unreclaimable: u64,
}

impl Figures {
    pub fn used(&self) -> Duration {
        self.user + self.system
    }
}
