//! Reads and discards the output of a command's background children after the command has ended. A closed
//! pipe would kill them at their next line.

use std::cell::Cell;
use std::os::fd::OwnedFd;
use std::time::Duration;

use crate::init::readiness::readable;

/// Most pipes that are read; further ones are closed.
const MAX_PIPES: usize = 256;
/// Pause after each read, so that a child that prints without end mostly waits.
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

/// Reads what is available, up to the pipe's size. Returns true when no writer is left.
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
