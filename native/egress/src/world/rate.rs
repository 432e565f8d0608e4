//! Rate of the questions of one sandbox.

use crate::bounds::{QUESTIONS_AT_ONCE, QUESTIONS_PER_SECOND};
use std::time::Instant;

pub struct Rate {
    left: f64,
    at: Instant,
}

impl Rate {
    pub fn new(now: Instant) -> Rate {
        Rate {
            left: QUESTIONS_AT_ONCE,
            at: now,
        }
    }

    /// Takes one; false where none is left.
    pub fn take(&mut self, now: Instant) -> bool {
        let grown = now.saturating_duration_since(self.at).as_secs_f64() * QUESTIONS_PER_SECOND;
        self.left = (self.left + grown).min(QUESTIONS_AT_ONCE);
        self.at = now;
        let has_one = self.left >= 1.0;
        if has_one {
            self.left -= 1.0;
        }
        has_one
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_burst_ends_and_comes_back_with_time() {
        let start = Instant::now();
        let mut rate = Rate::new(start);
        assert_eq!((0..1000).filter(|_| rate.take(start)).count(), 400);
        let later = start + Duration::from_secs(1);
        assert_eq!((0..1000).filter(|_| rate.take(later)).count(), 200);
        let much_later = start + Duration::from_secs(1000);
        assert_eq!((0..1000).filter(|_| rate.take(much_later)).count(), 400);
    }
}
