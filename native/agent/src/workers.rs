//! The fixed set of threads that does what may block: file work. They are made at the start, because when
//! the sandbox is out of processes no thread can be made.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use tokio::sync::{Semaphore, oneshot};

use crate::fault::{Code, Fault};

const THREADS: usize = 6;
/// Long jobs (walks of trees, whole files) never take the last threads from the short ones.
const LONG_JOBS: usize = 3;
const STACK_BYTES: usize = 512 << 10;

type Job = Box<dyn FnOnce() + Send>;

pub struct Workers {
    queue: mpsc::Sender<Job>,
    long: Semaphore,
}

/// Set when the host has gone away; long jobs look at it between steps.
#[derive(Clone, Default)]
pub struct Cancelled(Arc<AtomicBool>);

impl Cancelled {
    /// Fails once the host has gone away; nobody is left to read the error.
    pub fn check(&self) -> Result<(), Fault> {
        if self.0.load(Ordering::Relaxed) {
            return Err(Fault::new(Code::Unavailable, "The call was cancelled."));
        }
        Ok(())
    }
}

/// Cancels its job when dropped before the job is done.
struct CancelOnDrop(Cancelled, Cell<bool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if !self.1.get() {
            self.0.0.store(true, Ordering::Relaxed);
        }
    }
}

impl Workers {
    pub fn start() -> Result<Rc<Self>, String> {
        let (queue, jobs) = mpsc::channel::<Job>();
        let jobs = Arc::new(Mutex::new(jobs));
        for _ in 0..THREADS {
            let jobs = Arc::clone(&jobs);
            thread::Builder::new()
                .name("worker".to_owned())
                .stack_size(STACK_BYTES)
                .spawn(move || work(&jobs))
                .map_err(|error| format!("cannot start a worker: {error}"))?;
        }
        Ok(Rc::new(Self {
            queue,
            long: Semaphore::new(LONG_JOBS),
        }))
    }

    /// A job of bounded length: one system call or a few.
    pub async fn short<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let (sender, receiver) = oneshot::channel();
        let job: Job = Box::new(move || {
            let _ = sender.send(job());
        });
        self.queue
            .send(job)
            .map_err(|_| Fault::new(Code::Internal, "The agent's workers are gone."))?;
        receiver
            .await
            .map_err(|_| Fault::new(Code::Internal, "The agent's worker is gone."))?
    }

    /// A job whose length depends on what is in the sandbox. Dropping the future cancels the job.
    pub async fn long<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Cancelled) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let _turn = self
            .long
            .acquire()
            .await
            .map_err(|_| Fault::new(Code::Internal, "The agent's workers are gone."))?;
        let cancelled = Cancelled::default();
        let guard = CancelOnDrop(cancelled.clone(), Cell::new(false));
        let result = self.short(move || job(&cancelled)).await;
        guard.1.set(true);
        result
    }
}

fn work(jobs: &Mutex<mpsc::Receiver<Job>>) {
    loop {
        let next = match jobs.lock() {
            Ok(jobs) => jobs.recv(),
            Err(_) => return,
        };
        match next {
            Ok(job) => job(),
            Err(_) => return,
        }
    }
}
