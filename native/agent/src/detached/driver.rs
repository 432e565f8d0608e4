//! Follows one process from its start to its end: reads its output as fast as its slowest viewer takes it, and kills it
//! when its time is over.

use std::os::fd::OwnedFd;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::sleep;

use super::registry::Registry;
use super::state::{Detached, End, now_ms};
use crate::init::reaper::Reaper;
use crate::process::outputs::{LastWords, Outputs};
use crate::process::signals;
use crate::wire::fault::Fault;

pub struct Driver {
    pub registry: Rc<Registry>,
    pub process: Rc<Detached>,
    pub outputs: Outputs,
    /// Kept open while the program runs: a terminal that no process has open looks ended.
    pub slave: Option<OwnedFd>,
    pub reaper: Rc<Reaper>,
}

impl Driver {
    /// @param ended The program's wait status; dropping it kills the whole tree.
    pub async fn drive(self, ended: impl Future<Output = Result<i32, Fault>>, timeout: Duration) {
        let Self {
            registry,
            process,
            mut outputs,
            slave,
            reaper,
        } = self;
        let (status, timed_out) = follow(&process, &mut outputs, ended, timeout).await;
        if reaper.is_ending() {
            // The whole sandbox ends. Viewers notice it by their broken connections.
            return std::future::pending().await;
        }
        drop(slave);
        take_last_words(&process, &mut outputs).await;
        // Output of children that live on is discarded.
        outputs.discard();
        process.finish(End {
            program: signals::End::of(status),
            timed_out,
            ended_ms: now_ms(),
        });
        registry.forget_oldest();
        // Who writes to it has noticed the end, and leaves it.
        process.input.lock().await.take();
    }
}

/// Returns the wait status, and true where the time was over.
async fn follow(
    process: &Detached,
    outputs: &mut Outputs,
    ended: impl Future<Output = Result<i32, Fault>>,
    timeout: Duration,
) -> (i32, bool) {
    let mut ended = pin!(ended);
    let mut late = pin!(sleep(timeout));
    loop {
        let has_room = process.has_room();
        tokio::select! {
            biased;
            status = &mut ended => return (status.unwrap_or(libc::SIGKILL), false),
            () = process.ending.notified() => return (libc::SIGKILL, false),
            () = &mut late => return (libc::SIGKILL, true),
            piece = outputs.next(), if has_room && outputs.open() => if let Some(piece) = piece {
                process.print(piece.stream, outputs.bytes(piece));
            },
            () = process.room(), if !has_room => {}
        }
        // A process that prints without end waits for all others, and first for its own viewers.
        tokio::task::yield_now().await;
    }
}

async fn take_last_words(process: &Detached, outputs: &mut Outputs) {
    let mut last = LastWords::begin();
    process.room().await;
    while let Some(piece) = last.next(outputs).await {
        process.print(piece.stream, outputs.bytes(piece));
        process.room().await;
    }
}
