//! Made by `make generate` from src/model/limits.ts. Do not edit.

use std::time::Duration;

/// Between SIGTERM to all and SIGKILL; less than the host's own grace period for PID 1.
pub const GRACE: Duration = Duration::from_millis(1_500);
