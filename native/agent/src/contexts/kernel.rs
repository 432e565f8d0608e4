//! One context: its interpreter, the turn of whoever runs code in it, and its end.

use std::cell::{Cell, RefCell};
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::{Mutex, OwnedMutexGuard, watch};
use tokio::task::spawn_local;
use tokio::time::{Instant, timeout, timeout_at};

use super::messages::{Control, Message};
use super::program::Language;
use crate::exec::ending;
use crate::exec::pipes::{Captures, EXACT_ORDER_BYTES, Outputs};
use crate::exec::spawn::Channel;
use crate::own_figures::cgroup::memory_kills;
use crate::process::signals;
use crate::wire::fault::{Code, Fault};

/// Runs that wait for their turn in one context.
const MAX_WAITING: usize = 16;
/// Kept of what is discarded.
const DISCARDED_BYTES: usize = 1 << 10;
/// Time for an interpreter without its channel to end.
const CLOSE_PATIENCE: Duration = Duration::from_secs(1);

/// The reason of an end that a caller wants.
pub const ENDED: &str = "It was ended.";

pub struct About {
    pub id: String,
    pub language: Language,
    pub user: Option<String>,
    pub cwd: String,
    pub memory_mb: Option<u64>,
}

pub struct Kernel {
    pub about: About,
    pub created_ms: u64,
    pub runs: Cell<u64>,
    pid: i32,
    /// Dropping it kills the whole tree.
    tree: Rc<Channel>,
    turn: Arc<Mutex<Ends>>,
    waiting: Cell<usize>,
    /// The code of the run in progress has begun.
    begun: Cell<bool>,
    /// It is interrupted as soon as it begins.
    interrupt_pending: Cell<bool>,
    /// The cause of its end.
    end: watch::Sender<Option<String>>,
    /// The reason for which the agent has ended it.
    killed: Cell<Option<&'static str>>,
    /// Processes that the kernel had killed for memory before.
    memory_kills: Cell<Option<u64>>,
}

/// The agent's ends of the interpreter's streams.
pub struct Ends {
    pub control: Control,
    pub stdout: OwnedFd,
    pub stderr: OwnedFd,
}

impl Ends {
    /// Output that is there and that comes, until this is dropped.
    pub fn outputs(&self, captures: Captures) -> Result<Outputs, Fault> {
        let captures = Rc::new(RefCell::new(captures));
        let (stdout, stderr) = (self.stdout.try_clone()?, self.stderr.try_clone()?);
        for pipe in [&stdout, &stderr] {
            // Fails where more is in it, whose order is known no more.
            let _ = rustix::pipe::fcntl_setpipe_size(pipe, EXACT_ORDER_BYTES);
        }
        Ok(Outputs::into_captures(stdout, stderr, captures)?)
    }
}

impl Kernel {
    pub fn new(about: About, pid: i32, tree: Channel, ends: Ends) -> Rc<Self> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Rc::new(Self {
            about,
            created_ms: now.map_or(0, |now| now.as_millis() as u64),
            runs: Cell::new(0),
            pid,
            tree: Rc::new(tree),
            turn: Arc::new(Mutex::new(ends)),
            waiting: Cell::new(0),
            begun: Cell::new(false),
            interrupt_pending: Cell::new(false),
            end: watch::Sender::new(None),
            killed: Cell::new(None),
            memory_kills: Cell::new(memory_kills()),
        })
    }

    pub fn tree(&self) -> Rc<Channel> {
        Rc::clone(&self.tree)
    }

    /// The cause of its end; None while it lives.
    pub fn end(&self) -> Option<String> {
        self.end.borrow().clone()
    }

    /// True while code runs in it, or goes on without its caller.
    pub fn busy(&self) -> bool {
        self.end.borrow().is_none() && self.turn.try_lock().is_err()
    }

    /// From now on what the kernel kills for memory may be this context.
    pub fn notes_memory(&self) {
        self.memory_kills.set(memory_kills());
    }

    /// Notes the end. @param status The wait status.
    pub fn ended_with(&self, status: i32) {
        let by_memory = memory_kills() > self.memory_kills.get();
        let cause = match (self.killed.get(), ending::signal(status)) {
            (Some(reason), _) => reason.to_owned(),
            (_, Some(libc::SIGKILL)) if by_memory => {
                "The sandbox ran out of memory, and the kernel killed it.".to_owned()
            }
            (_, Some(signal)) => format!("{} ended it.", signals::name(signal)),
            (_, None) => format!(
                "Its interpreter ended with exit code {}.",
                ending::exit_code(status)
            ),
        };
        self.end.send_replace(Some(cause));
    }

    /// Resolves with the cause of its end.
    pub async fn ended(&self) -> String {
        let mut end = self.end.subscribe();
        let found = end.wait_for(Option::is_some).await;
        found.ok().and_then(|end| end.clone()).unwrap_or_default()
    }

    /// Kills the interpreter and all that it has started.
    pub fn kill(&self, reason: &'static str) {
        self.killed.set(Some(reason));
        self.tree.kill();
    }

    /// Ends it after a breach of its channel, and returns the cause. As a rule it has ended by itself.
    pub async fn close(&self) -> String {
        if let Ok(cause) = timeout(CLOSE_PATIENCE, self.ended()).await {
            return cause;
        }
        self.kill("Its code wrote to the channel of the interpreter.");
        self.ended().await
    }

    /// Interrupts the code that runs, with the programs that it waits for; code that has still to begin, as it does.
    pub fn interrupt(&self) {
        if !self.busy() {
            return;
        }
        if self.begun.get() {
            // SAFETY: kill takes numbers and touches no memory. The interpreter leads its group, and has not been reaped.
            unsafe { libc::kill(-self.pid, libc::SIGINT) };
        } else {
            self.interrupt_pending.set(true);
        }
    }

    /// The interpreter has begun the code. Earlier, an interruption would be lost. Returns false where it is interrupted at once.
    pub fn begins(&self) -> bool {
        self.begun.set(true);
        let goes_on = !self.interrupt_pending.take();
        if !goes_on {
            self.interrupt();
        }
        goes_on
    }

    /// The code has ended. What interrupts from here on is for the next one.
    fn is_over(&self) {
        self.begun.set(false);
        self.interrupt_pending.set(false);
    }

    /// Waits until nobody else runs code in it.
    pub async fn turn(self: &Rc<Self>, deadline: Instant) -> Result<Turn, Fault> {
        if self.waiting.get() >= MAX_WAITING {
            return Err(self.occupied(format!("{MAX_WAITING} runs wait")));
        }
        let _place = Place::take(self);
        let lock = Arc::clone(&self.turn).lock_owned();
        let ends = tokio::select! {
            biased;
            cause = self.ended() => return Err(self.gone(&cause)),
            ends = timeout_at(deadline, lock) => ends.map_err(|_| self.occupied("other code runs".to_owned()))?,
        };
        Ok(Turn {
            kernel: Rc::clone(self),
            ends: Some(ends),
        })
    }

    pub fn gone(&self, cause: &str) -> Fault {
        Fault::new(
            Code::FailedPrecondition,
            format!("Context '{}' has ended: {cause}", self.about.id),
        )
        .parameter("context")
        .hint("Restart it, without its variables, or delete it.")
    }

    fn occupied(&self, what: String) -> Fault {
        Fault::new(
            Code::FailedPrecondition,
            format!("In context '{}' {what}.", self.about.id),
        )
        .parameter("context")
        .hint("Wait, interrupt the context, or restart it.")
    }
}

struct Place<'a>(&'a Kernel);

impl<'a> Place<'a> {
    fn take(kernel: &'a Kernel) -> Self {
        kernel.waiting.set(kernel.waiting.get() + 1);
        Self(kernel)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.waiting.set(self.0.waiting.get() - 1);
    }
}

/// The right to run code. Where it is dropped before the code has ended, the code is interrupted, and others wait until it has.
pub struct Turn {
    pub kernel: Rc<Kernel>,
    ends: Option<OwnedMutexGuard<Ends>>,
}

impl Turn {
    /// The streams, until the code has ended.
    pub fn ends(&mut self) -> &mut Ends {
        self.ends
            .as_mut()
            .expect("a turn has its streams until it is over")
    }

    pub fn over(mut self) {
        self.kernel.is_over();
        self.ends = None;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let Some(ends) = self.ends.take() else { return };
        self.kernel.interrupt();
        let kernel = Rc::clone(&self.kernel);
        spawn_local(async move { settle(&kernel, ends).await });
    }
}

/// Reads and discards until the code has ended.
async fn settle(kernel: &Kernel, mut ends: OwnedMutexGuard<Ends>) {
    let outputs = ends.outputs(Captures::new(DISCARDED_BYTES));
    let (false, Ok(mut outputs)) = (ends.control.torn.get(), outputs) else {
        return kernel.kill("It could not be read any more.");
    };
    outputs.leave_exact_order();
    loop {
        tokio::select! {
            biased;
            _ = kernel.ended() => return,
            message = ends.control.incoming.next() => match message {
                Some(Message::Done(_)) => {
                    kernel.is_over();
                    return outputs.drain();
                }
                Some(Message::Begun) => {
                    kernel.begins();
                }
                Some(_) => {}
                None => return drop(kernel.close().await),
            },
            pumped = outputs.pump_once() => if pumped.is_err() {
                return drop(kernel.close().await);
            },
        }
        // Code that prints without end waits for all others.
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
