//! Accepts connections, at most `MAX_CONNECTIONS` at once; further ones wait in the socket's backlog.

use std::fs::File;
use std::os::unix::net::UnixListener as StdListener;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::{LocalSet, spawn_local};

use super::boot::Boot;
use super::context::Context;
use super::first_ids;
use super::reaper::Reaper;
use super::workers::Workers;

/// Tunnels may take most of them; the rest is for everything else.
const MAX_CONNECTIONS: usize = 512;
/// After an accept that failed for want of descriptors or memory.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// Serves until the host ends the sandbox.
/// @param start Makes what answers on each connection.
pub fn run<S: AsyncFn(UnixStream) + 'static>(
    boot: Boot,
    start: impl FnOnce(Context) -> S,
) -> Result<(), String> {
    let workers = Workers::start()?;
    first_ids::keep()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    LocalSet::new()
        .block_on(&runtime, serve(boot, workers, start))
        .map_err(|error| format!("cannot serve: {error}"))
}

async fn serve<S: AsyncFn(UnixStream) + 'static>(
    boot: Boot,
    workers: Rc<Workers>,
    start: impl FnOnce(Context) -> S,
) -> std::io::Result<()> {
    let listener = StdListener::from(boot.listener);
    listener.set_nonblocking(true)?;
    let listener = UnixListener::from_std(listener)?;
    let reaper = Reaper::start()?;
    let answer = start(Context {
        identity: boot.identity,
        workers,
        reaper: Rc::clone(&reaper),
        null: File::options()
            .read(true)
            .write(true)
            .open("/dev/null")?
            .into(),
    });
    tokio::select! {
        () = accept(listener, Rc::new(answer)) => {}
        () = reaper.asked_to_end() => {}
    }
    reaper.end_everything().await;
    Ok(())
}

async fn accept(listener: UnixListener, answer: Rc<impl AsyncFn(UnixStream) + 'static>) {
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                let answer = Rc::clone(&answer);
                spawn_local(async move {
                    answer(stream).await;
                    drop(slot);
                });
            }
            Err(_) => tokio::time::sleep(ACCEPT_RETRY).await,
        }
    }
}
