//! The time that a search or a replacement may take.

use std::time::{Duration, Instant};

use crate::init::workers::Cancelled;
use crate::wire::fault::{Code, Fault};

#[derive(Clone)]
pub struct Budget {
    cancelled: Cancelled,
    deadline: Instant,
}

impl Budget {
    pub fn new(cancelled: &Cancelled, time: Duration) -> Self {
        Self {
            cancelled: cancelled.clone(),
            deadline: Instant::now() + time,
        }
    }

    /// Ends with this one, and after `time` at the latest.
    pub fn part(&self, time: Duration) -> Self {
        Self {
            cancelled: self.cancelled.clone(),
            deadline: self.deadline.min(Instant::now() + time),
        }
    }

    /// Fails once the time is over or the host has gone away.
    pub fn check(&self) -> Result<(), Fault> {
        self.cancelled.check()?;
        if Instant::now() < self.deadline {
            return Ok(());
        }
        Err(
            Fault::new(Code::Timeout, "It took too long inside the sandbox.")
                .hint("Narrow it: a deeper path, a file_pattern, or fewer files at once."),
        )
    }
}
