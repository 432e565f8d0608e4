//! Reads and discards what a command's background children print after the command has ended. A closed pipe
//! would kill them at their next line.

use std::cell::Cell;
use std::os::fd::OwnedFd;
use std::time::Duration;

use crate::init::readiness::readable;

/// Beyond them the pipe is closed.
const MAX_PIPES: usize = 256;
/// One read each: a child that prints without end waits for it most of the time.
const PAUSE: Duration = Duration::from_millis(20);
const PIPE_BYTES: usize = 64 << 10;

thread_local! {
    static OPEN: Cell<usize> = const { Cell::new(0) };
}

pub fn discard(pipe: OwnedFd) {
    if at_end(&pipe) || OPEN.get() >= MAX_PIPES {
        return;
    }
    let _ = rustix::pipe::fcntl_setpipe_size(&pipe, PIPE_BYTES);
    let Ok(pipe) = readable(pipe) else {
        return;
    };
    OPEN.set(OPEN.get() + 1);
    tokio::task::spawn_local(async move {
        while let Ok(mut ready) = pipe.readable().await {
            if at_end(pipe.get_ref()) {
                break;
            }
            ready.clear_ready();
            tokio::time::sleep(PAUSE).await;
        }
        OPEN.set(OPEN.get() - 1);
    });
}

/// Reads all that is there; true when no writer is left.
fn at_end(pipe: &OwnedFd) -> bool {
    let mut buffer = [0; 4096];
    for _ in 0..PIPE_BYTES / buffer.len() {
        match rustix::io::read(pipe, &mut buffer) {
            Ok(0) => return true,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => return false,
            Err(_) => return true,
        }
    }
    false
}
