//! Accepts connections, at most `MAX_CONNECTIONS` at once; further ones wait in the socket's backlog.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener as StdListener;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UnixListener;
use tokio::sync::Semaphore;
use tokio::task::{LocalSet, spawn_local};

use crate::boot::{Boot, Identity};
use crate::dispatch::Agent;
use crate::first_ids;
use crate::reaper::Reaper;
use crate::wire::fault::Fault;
use crate::workers::Workers;

/// Tunnels may take most of them; the rest is for everything else.
const MAX_CONNECTIONS: usize = 512;
/// After an accept that failed for want of descriptors or memory.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// What every operation may use.
pub struct Context {
    pub identity: Identity,
    pub workers: Rc<Workers>,
    pub reaper: Rc<Reaper>,
    null: OwnedFd,
}

impl Context {
    /// The null device, open since the start: the sandbox may have removed it.
    pub fn null(&self) -> Result<OwnedFd, Fault> {
        Ok(self.null.try_clone()?)
    }
}

/// Serves until the host ends the sandbox.
pub fn run(boot: Boot) -> Result<(), String> {
    let workers = Workers::start()?;
    first_ids::keep()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    LocalSet::new()
        .block_on(&runtime, serve(boot, workers))
        .map_err(|error| format!("cannot serve: {error}"))
}

async fn serve(boot: Boot, workers: Rc<Workers>) -> std::io::Result<()> {
    let listener = StdListener::from(boot.listener);
    listener.set_nonblocking(true)?;
    let listener = UnixListener::from_std(listener)?;
    let reaper = Reaper::start()?;
    let agent = Agent::new(Context {
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
        () = accept(listener, Rc::new(agent)) => {}
        () = reaper.asked_to_end() => {}
    }
    reaper.end_everything().await;
    Ok(())
}

async fn accept(listener: UnixListener, agent: Rc<Agent>) {
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                let agent = Rc::clone(&agent);
                spawn_local(async move {
                    agent.serve(stream).await;
                    drop(slot);
                });
            }
            Err(_) => tokio::time::sleep(ACCEPT_RETRY).await,
        }
    }
}
