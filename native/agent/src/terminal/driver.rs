//! Follows one terminal from its start to its end: reads its output, with or without viewers.

use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::unix::AsyncFd;
use tokio::time::{Instant, interval, sleep, timeout};

use super::registry::Registry;
use super::state::Terminal;
use crate::exec::background;
use crate::init::readiness::readable;
use crate::init::reaper::Reaper;
use crate::wire::fault::Fault;

/// Reads in a row, before others get their turn.
const READS: usize = 16;
/// The kernel returns no more of a terminal's output at once.
const READ_BYTES: usize = 4 << 10;
/// A program that prints line by line would wake the agent, its viewers and the service for each. The first lines after
/// a silence of `STEADY` go at once, and so does the echo of a key; then those of `GATHER` go together.
const STEADY: Duration = Duration::from_millis(5);
const GATHER: Duration = Duration::from_millis(1);
/// After the end of the shell its last output may still arrive, or children may print without end.
const QUIET: Duration = Duration::from_millis(150);
const LAST_WORDS: Duration = Duration::from_millis(500);
/// A terminal that is closed gets SIGHUP at this interval until its shell ends, and after the grace all of it
/// is killed.
const HANG_UP_AGAIN: Duration = Duration::from_millis(100);
const HANG_UP_GRACE: Duration = Duration::from_secs(2);

pub struct Driver {
    pub registry: Rc<Registry>,
    pub terminal: Rc<Terminal>,
    master: AsyncFd<OwnedFd>,
    /// Kept open while the shell lives, since programs may close the terminal and open it again.
    slave: OwnedFd,
    reaper: Rc<Reaper>,
}

enum Printed {
    /// All available output.
    All,
    /// The bound of one turn was reached.
    More,
    /// No program has the terminal open.
    Over,
}

impl Driver {
    pub fn new(
        registry: &Rc<Registry>,
        terminal: &Rc<Terminal>,
        master: OwnedFd,
        slave: OwnedFd,
        reaper: &Rc<Reaper>,
    ) -> io::Result<Self> {
        Ok(Self {
            registry: Rc::clone(registry),
            terminal: Rc::clone(terminal),
            master: readable(master)?,
            slave,
            reaper: Rc::clone(reaper),
        })
    }

    /// @param ended The shell's wait status; dropping it kills the whole tree.
    pub async fn drive(self, ended: impl Future<Output = Result<i32, Fault>>) {
        let Self {
            registry,
            terminal,
            master,
            slave,
            reaper,
        } = self;
        let status = follow(&terminal, &master, ended).await;
        if reaper.is_ending() {
            // The whole sandbox ends. Viewers notice it by their broken connections.
            return std::future::pending().await;
        }
        registry.remove(&terminal);
        drop(slave);
        take_last_words(&terminal, &master).await;
        terminal.finish(status);
        // Output of children that live on is discarded.
        background::discard(master.into_inner());
    }
}

async fn follow(
    terminal: &Terminal,
    master: &AsyncFd<OwnedFd>,
    ended: impl Future<Output = Result<i32, Fault>>,
) -> i32 {
    let mut ended = pin!(ended);
    let mut hanging_up = pin!(hang_up(terminal));
    let mut reads = true;
    let mut silent_since = Instant::now();
    loop {
        tokio::select! {
            biased;
            status = &mut ended => return status.unwrap_or(libc::SIGKILL),
            () = &mut hanging_up => return libc::SIGKILL,
            printed = printed(terminal, master), if reads => match printed {
                Printed::All if silent_since.elapsed() < STEADY => sleep(GATHER).await,
                Printed::All | Printed::More => {}
                Printed::Over => reads = false,
            },
        }
        silent_since = Instant::now();
        // A terminal that prints without end waits for all other terminals, and first for its own viewers.
        tokio::task::yield_now().await;
    }
}

/// Resolves when a terminal is being closed and its shell has not ended in time.
async fn hang_up(terminal: &Terminal) {
    terminal.closing.notified().await;
    let deadline = Instant::now() + HANG_UP_GRACE;
    let mut again = interval(HANG_UP_AGAIN);
    while Instant::now() < deadline {
        again.tick().await;
        // Signals the program first, and the shell in a later round, when the shell is in the foreground.
        let group = terminal.foreground().unwrap_or(terminal.pid);
        for signal in [libc::SIGHUP, libc::SIGCONT] {
            // SAFETY: kill takes numbers and touches no memory.
            unsafe { libc::kill(-group, signal) };
        }
    }
}

/// Resolves when output was printed and read.
async fn printed(terminal: &Terminal, master: &AsyncFd<OwnedFd>) -> Printed {
    let Ok(mut ready) = master.readable().await else {
        return std::future::pending().await;
    };
    let mut buffer = [0; READ_BYTES];
    for _ in 0..READS {
        match rustix::io::read(master.get_ref(), &mut buffer) {
            Ok(length) if length > 0 => terminal.print(&buffer[..length]),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                ready.clear_ready();
                return Printed::All;
            }
            _ => return Printed::Over,
        }
    }
    Printed::More
}

async fn take_last_words(terminal: &Terminal, master: &AsyncFd<OwnedFd>) {
    let late = Instant::now() + LAST_WORDS;
    while Instant::now() < late
        && let Ok(Printed::All | Printed::More) = timeout(QUIET, printed(terminal, master)).await
    {
        tokio::task::yield_now().await;
    }
}
