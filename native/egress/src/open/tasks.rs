//! Tasks of one connection: HTTP/2 has one for each of its streams. None outlives it.

use hyper::rt::Executor;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::task::JoinSet;

#[derive(Clone, Default)]
pub struct Tasks(Arc<Mutex<JoinSet<()>>>);

impl Tasks {
    /// Ends all of them. Returns when they hold nothing any more.
    pub async fn end(&self) {
        loop {
            let mut tasks = std::mem::take(&mut *self.lock());
            if tasks.is_empty() {
                return;
            }
            tasks.shutdown().await;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, JoinSet<()>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<F: Future<Output: Send> + Send + 'static> Executor<F> for Tasks {
    fn execute(&self, task: F) {
        let mut tasks = self.lock();
        // Those that are over are forgotten.
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            task.await;
        });
    }
}
