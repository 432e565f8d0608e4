//! Connections to a listener that the host has not taken yet.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::wire::fault::Fault;
use crate::wire::resource::Resource;

/// Time for the host to take a connection.
const PATIENCE: Duration = Duration::from_secs(10);

/// Waiting connections of all listeners.
#[derive(Default)]
pub struct Waiting {
    last_number: Cell<u64>,
    streams: RefCell<HashMap<(u64, u64), Held>>,
    /// Notified when one was taken.
    pub taken: Notify,
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
            Fault::not_found(Resource::Connection, "That connection no longer waits.")
        })
    }

    pub fn number(&self) -> u64 {
        let number = self.last_number.get() + 1;
        self.last_number.set(number);
        number
    }

    pub fn hold(&self, listener: u64, stream: TcpStream) -> u64 {
        let connection = self.number();
        let until = Instant::now() + PATIENCE;
        self.streams
            .borrow_mut()
            .insert((listener, connection), Held { stream, until });
        connection
    }

    /// Counts a listener's waiting connections. Returns also the time at which the first of them is dropped.
    pub fn count(&self, listener: u64) -> (usize, Option<Instant>) {
        let streams = self.streams.borrow();
        let own = || streams.iter().filter(|((owner, _), _)| *owner == listener);
        (own().count(), own().map(|(_, held)| held.until).min())
    }

    pub fn drop_late(&self, listener: u64) {
        let now = Instant::now();
        self.streams
            .borrow_mut()
            .retain(|(owner, _), held| *owner != listener || held.until > now);
    }
}

/// Drops the waiting connections of a listener, by its number, when the listener ends.
pub struct DropWaiting<'a>(pub &'a Waiting, pub u64);

impl Drop for DropWaiting<'_> {
    fn drop(&mut self) {
        let own = self.1;
        let mut streams = self.0.streams.borrow_mut();
        streams.retain(|(owner, _), _| *owner != own);
    }
}
