//! The fixed set of threads for work that may block: files. They are made at the start, because a sandbox
//! without free processes can make no thread.

use std::cell::Cell;
use std::num::NonZero;
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::account::Account;
use crate::wire::fault::{Code, Fault};

/// Long jobs (walks of trees, whole files) at once, by the number of the host's processors. As many threads
/// again serve short jobs. The number is low, since the kernel goes through all threads of the host at the
/// start of every machine.
const LONG_JOBS: RangeInclusive<usize> = 2..=3;
/// Only the used part of a stack takes memory. Expressions of a search recurse on it.
pub const STACK_BYTES: usize = 2 << 20;

type Job = Box<dyn FnOnce() + Send>;

#[derive(Clone)]
pub struct Workers {
    queue: mpsc::Sender<Job>,
    long: Arc<Semaphore>,
    /// Long jobs that have no turn yet.
    waiting: Arc<AtomicUsize>,
    /// Does the jobs in the name of this user; as root without one.
    account: Option<Arc<Account>>,
    privileged: bool,
}

/// One worker's part in a job that several share.
pub struct Turn {
    /// None for the first worker, which keeps its turn until the end.
    waiting: Option<Arc<AtomicUsize>>,
    _turn: OwnedSemaphorePermit,
}

impl Turn {
    /// True for the first worker of the job; every job has one.
    pub fn is_first(&self) -> bool {
        self.waiting.is_none()
    }

    /// True where another job waits for the turn of this helping worker.
    pub fn is_wanted(&self) -> bool {
        self.waiting
            .as_ref()
            .is_some_and(|waiting| waiting.load(Ordering::Relaxed) > 0)
    }
}

/// Counts a job among those that wait, until dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Set when the host has gone away; long jobs check it between steps.
#[derive(Clone, Default)]
pub struct Cancelled(Arc<AtomicBool>);

impl Cancelled {
    /// Fails once the host has gone away. The error has no reader then.
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
        let long = processors().clamp(*LONG_JOBS.start(), *LONG_JOBS.end());
        for _ in 0..2 * long {
            let jobs = Arc::clone(&jobs);
            thread::Builder::new()
                .name("worker".to_owned())
                .stack_size(STACK_BYTES)
                .spawn(move || work(&jobs))
                .map_err(|error| format!("cannot start a worker: {error}"))?;
        }
        Ok(Rc::new(Self {
            queue,
            long: Arc::new(Semaphore::new(long)),
            waiting: Arc::default(),
            account: None,
            privileged: false,
        }))
    }

    /// The same threads, for jobs in the name of a user.
    pub fn of_user(&self, account: &Arc<Account>) -> Self {
        Self {
            account: Some(Arc::clone(account)),
            ..self.clone()
        }
    }

    /// The same threads, whose jobs have root's access to files besides.
    pub fn with_access(&self, privileged: bool) -> Self {
        Self {
            privileged,
            ..self.clone()
        }
    }

    /// A job of bounded length: one system call or a few.
    pub async fn short<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        self.begin(job)?.await.map_err(|_| worker_gone())?
    }

    /// A short job that nobody waits for.
    pub fn later(&self, job: impl FnOnce() + Send + 'static) {
        let _ = self.begin(move || {
            job();
            Ok(())
        });
    }

    /// A job whose length depends on the contents of the sandbox. Dropping the future cancels the job.
    pub async fn long<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Cancelled) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let _turn = self.turn().await?;
        let cancelled = Cancelled::default();
        let guard = CancelOnDrop(cancelled.clone(), Cell::new(false));
        let result = self.short(move || job(&cancelled)).await;
        guard.1.set(true);
        result
    }

    /// Runs a long job on as many workers as are free and the cores can carry. The first error is the job's;
    /// `job` makes the other workers end then.
    pub async fn together(
        &self,
        job: impl Fn(&Turn, &Cancelled) -> Result<(), Fault> + Send + Sync + 'static,
    ) -> Result<(), Fault> {
        let job = Arc::new(job);
        let cancelled = Cancelled::default();
        let guard = CancelOnDrop(cancelled.clone(), Cell::new(false));
        let mut turns = vec![Turn {
            waiting: None,
            _turn: self.turn().await?,
        }];
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        while turns.len() < cores
            && self.waiting.load(Ordering::Relaxed) == 0
            && let Ok(turn) = Arc::clone(&self.long).try_acquire_owned()
        {
            turns.push(Turn {
                waiting: Some(Arc::clone(&self.waiting)),
                _turn: turn,
            });
        }
        let mut parts = Vec::new();
        for turn in turns {
            let (job, cancelled) = (Arc::clone(&job), cancelled.clone());
            parts.push(self.begin(move || job(&turn, &cancelled))?);
        }
        let mut outcome = Ok(());
        for part in parts {
            let result = part.await.map_err(|_| worker_gone()).flatten();
            outcome = outcome.and(result);
        }
        guard.1.set(true);
        outcome
    }

    async fn turn(&self) -> Result<OwnedSemaphorePermit, Fault> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&self.waiting);
        let turn = Arc::clone(&self.long).acquire_owned().await;
        turn.map_err(|_| worker_gone())
    }

    fn begin<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<oneshot::Receiver<Result<T, Fault>>, Fault> {
        let (sender, receiver) = oneshot::channel();
        let (account, privileged) = (self.account.clone(), self.privileged);
        let job: Job = Box::new(move || {
            let _ = sender.send(match account {
                Some(account) if privileged => account.run_privileged(job),
                Some(account) => account.run(job),
                None => job(),
            });
        });
        self.queue.send(job).map_err(|_| worker_gone())?;
        Ok(receiver)
    }
}

/// Counts the host's processors, whatever part the machine may use. The standard library would read a dozen
/// files for its count.
fn processors() -> usize {
    // SAFETY: touches no memory of this program.
    let online = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    usize::try_from(online).unwrap_or(1)
}

fn worker_gone() -> Fault {
    Fault::new(Code::Internal, "The agent's worker is gone.")
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
