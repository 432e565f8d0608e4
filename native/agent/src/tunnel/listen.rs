//! Listening inside for the host: each connection is named to it, and waits until it is taken.

use serde::Serialize;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io::ErrorKind;
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until};

use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::{Code, Fault};

/// Of one listener; further ones wait in the kernel's queue.
const MAX_WAITING: usize = 64;
/// For the host to take a connection.
const PATIENCE: Duration = Duration::from_secs(10);
/// After an accept that failed for want of descriptors or memory.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// Connections that the host has yet to take, of all listeners.
#[derive(Default)]
pub struct Waiting {
    last_number: Cell<u64>,
    streams: RefCell<HashMap<(u64, u64), Held>>,
    /// One was taken.
    taken: Notify,
}

struct Held {
    stream: TcpStream,
    until: Instant,
}

impl Waiting {
    pub fn take(&self, listener: u64, connection: u64) -> Result<TcpStream, Fault> {
        let held = self.streams.borrow_mut().remove(&(listener, connection));
        self.taken.notify_waiters();
        held.map(|held| held.stream).ok_or_else(|| {
            Fault::not_found("connection", "That connection does not wait any more.")
        })
    }

    fn number(&self) -> u64 {
        let number = self.last_number.get() + 1;
        self.last_number.set(number);
        number
    }

    fn hold(&self, listener: u64, stream: TcpStream) -> u64 {
        let connection = self.number();
        let until = Instant::now() + PATIENCE;
        self.streams
            .borrow_mut()
            .insert((listener, connection), Held { stream, until });
        connection
    }

    /// How many of a listener wait, and when the first of them has waited long enough.
    fn count(&self, listener: u64) -> (usize, Option<Instant>) {
        let streams = self.streams.borrow();
        let own = || streams.iter().filter(|((owner, _), _)| *owner == listener);
        (own().count(), own().map(|(_, held)| held.until).min())
    }

    fn drop_late(&self, listener: u64) {
        let now = Instant::now();
        self.streams
            .borrow_mut()
            .retain(|(owner, _), held| *owner != listener || held.until > now);
    }
}

/// What waits goes with its listener.
struct DropWaiting<'a>(&'a Waiting, u64);

impl Drop for DropWaiting<'_> {
    fn drop(&mut self) {
        let own = self.1;
        let mut streams = self.0.streams.borrow_mut();
        streams.retain(|(owner, _), _| *owner != own);
    }
}

#[derive(Serialize)]
struct ListenReply {
    listener: u64,
    port: u16,
}

#[derive(Serialize)]
struct ConnectionItem {
    connection: u64,
}

pub async fn listen(
    connection: &mut Connection,
    waiting: &Waiting,
    port: u16,
    everywhere: bool,
) -> Outcome {
    let address = if everywhere {
        Ipv4Addr::UNSPECIFIED
    } else {
        Ipv4Addr::LOCALHOST
    };
    let socket = TcpListener::bind((address, port))
        .await
        .map_err(|error| match error.kind() {
            ErrorKind::AddrInUse => taken(port),
            _ => error.into(),
        })?;
    let listener = waiting.number();
    let _end = DropWaiting(waiting, listener);
    connection
        .reply(&ListenReply {
            listener,
            port: socket.local_addr().map_err(Fault::from)?.port(),
        })
        .await?;
    loop {
        let (held, late) = waiting.count(listener);
        tokio::select! {
            accepted = socket.accept(), if held < MAX_WAITING => match accepted {
                Ok((stream, _)) => {
                    let connection_number = waiting.hold(listener, stream);
                    connection.item(&ConnectionItem { connection: connection_number }, &[]).await?;
                }
                Err(_) => sleep(ACCEPT_RETRY).await,
            },
            () = waiting.taken.notified() => {}
            () = sleep_until(late.unwrap_or_else(Instant::now)), if late.is_some() => {
                waiting.drop_late(listener);
            }
            () = connection.closed() => return Ok(()),
        }
    }
}

fn taken(port: u16) -> Fault {
    Fault::new(
        Code::AlreadyExists,
        format!("Port {port} inside the sandbox is taken."),
    )
    .resource("port")
    .hint("Choose another port, or end the program that listens there; Sandbox.ListPorts names it.")
}
