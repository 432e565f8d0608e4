//! A flag that is raised once, and that any number of tasks wait for.

use tokio::sync::Semaphore;

pub struct Flag(Semaphore);

impl Flag {
    pub fn new() -> Flag {
        Flag(Semaphore::new(0))
    }

    pub fn raise(&self) {
        self.0.close();
    }

    pub fn is_raised(&self) -> bool {
        self.0.is_closed()
    }

    /// Returns once the flag is raised; at once where it is raised already.
    pub async fn raised(&self) {
        // It has no permits, so this ends when it is closed.
        let _ = self.0.acquire().await;
    }
}
