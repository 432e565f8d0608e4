//! Serves connections, at most `MAX_CONNECTIONS` at once; further ones wait, on a unix socket in its backlog.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener as StdListener;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UnixListener;
use tokio::sync::Semaphore;
use tokio::task::{LocalSet, spawn_local};

use super::base::Base;
use super::boot::{Boot, Entrance};
use super::context::Context;
use super::first_ids;
use super::reaper::Reaper;
use super::workers::Workers;
use crate::wire::stream::Stream;

/// Most connections that tunnels may take; the rest is for all other operations.
const MAX_CONNECTIONS: usize = 512;
/// Connections of the service that wait, where there is no backlog for them; further ones are closed.
const MAX_WAITING: usize = 512;
/// After an accept that failed for want of descriptors or memory.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// Serves until the host ends the sandbox.
/// @param start Makes the handler of each connection.
pub fn run<S: AsyncFn(Stream) + 'static>(
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

async fn serve<S: AsyncFn(Stream) + 'static>(
    boot: Boot,
    workers: Rc<Workers>,
    start: impl FnOnce(Context) -> S,
) -> io::Result<()> {
    let reaper = Reaper::start()?;
    let answer = start(Context {
        identity: Rc::new(boot.identity),
        workers,
        reaper: Rc::clone(&reaper),
        persistence: boot.persistence,
        entrance_inode: match &boot.entrance {
            Entrance::Socket(_) => None,
            Entrance::Network(door) => door.inode(),
        },
        base: Base::sandbox_root(),
        account: None,
        null: Rc::new(
            File::options()
                .read(true)
                .write(true)
                .open("/dev/null")?
                .into(),
        ),
    });
    tokio::select! {
        result = accept(boot.entrance, answer) => result?,
        () = reaper.asked_to_end() => {}
    }
    reaper.end_everything().await;
    Ok(())
}

async fn accept(entrance: Entrance, answer: impl AsyncFn(Stream) + 'static) -> io::Result<()> {
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    match entrance {
        Entrance::Socket(listener) => accept_local(listener, slots, Rc::new(answer)).await,
        Entrance::Network(door) => {
            let waiting = Semaphore::new(MAX_WAITING);
            let serve = async move |stream: Stream| {
                let Ok(turn) = waiting.try_acquire() else {
                    return;
                };
                let _slot = slots.acquire().await;
                drop(turn);
                answer(stream).await;
            };
            door.accept(Rc::new(serve)).await
        }
    }
}

async fn accept_local(
    listener: OwnedFd,
    slots: Arc<Semaphore>,
    answer: Rc<impl AsyncFn(Stream) + 'static>,
) -> io::Result<()> {
    let listener = StdListener::from(listener);
    listener.set_nonblocking(true)?;
    let listener = UnixListener::from_std(listener)?;
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else {
            return Ok(());
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                let answer = Rc::clone(&answer);
                spawn_local(async move {
                    answer(Stream::Local(stream)).await;
                    drop(slot);
                });
            }
            Err(_) => tokio::time::sleep(ACCEPT_RETRY).await,
        }
    }
}
