//! Upper bounds, whatever the host asks for.

use std::time::Duration;

pub const MAX_ITEMS: usize = 10_000;
const MAX_TIME_MS: u64 = 600_000;

pub fn milliseconds(given: u64) -> Duration {
    Duration::from_millis(given.min(MAX_TIME_MS))
}
