//! Connections that came to a listener and that the host has yet to take.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::wire::fault::Fault;
use crate::wire::resource::Resource;

/// For the host to take a connection.
const PATIENCE: Duration = Duration::from_secs(10);

/// Of all listeners.
#[derive(Default)]
pub struct Waiting {
    last_number: Cell<u64>,
    streams: RefCell<HashMap<(u64, u64), Held>>,
    /// Rings when one was taken.
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
            Fault::not_found(
                Resource::Connection,
                "That connection does not wait any more.",
            )
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

    /// Counts a listener's waiting connections, and says when the first of them has waited long enough.
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

/// Ends what waits for a listener together with the listener, whose number it holds.
pub struct DropWaiting<'a>(pub &'a Waiting, pub u64);

impl Drop for DropWaiting<'_> {
    fn drop(&mut self) {
        let own = self.1;
        let mut streams = self.0.streams.borrow_mut();
        streams.retain(|(owner, _), _| *owner != own);
    }
}
