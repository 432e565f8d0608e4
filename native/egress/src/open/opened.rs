//! State that the requests of an opened connection share.

use super::roots::Roots;
use super::server::Server;
use super::upgrade::Upgrade;
use crate::events::{Event, Events, Protocol};
use crate::secrets::Vault;
use crate::world::{Live, Place, RuleName, World};
use std::net::SocketAddrV4;
use std::sync::Arc;
use tokio::net::TcpStream;

/// A connection of a sandbox that arrived at the gate and is admitted.
pub struct Connection {
    pub world: Arc<World>,
    pub events: Arc<Events>,
    pub roots: Roots,
    pub client: Arc<TcpStream>,
    pub live: Arc<Live>,
    pub destination: SocketAddrV4,
    pub rule: RuleName,
}

pub struct Opened {
    pub connection: Connection,
    pub owner: Arc<str>,
    /// Server name that the client asked for, and that the server's certificate is for.
    pub name: String,
    pub server: Server,
    pub upgrade: Upgrade,
}

impl Opened {
    pub fn port(&self) -> u16 {
        self.connection.destination.port()
    }

    /// The current secrets; None where none is left.
    pub fn vault(&self) -> Option<Arc<Vault>> {
        self.connection.world.vault(&self.connection.live)
    }

    /// Takes a place for a body that is read ahead.
    pub fn take_body(&self) -> Option<Place> {
        let Connection { world, live, .. } = &self.connection;
        world.bodies.take(&self.owner, &live.sandbox)
    }

    /// A text for the client about a request that was not passed on.
    pub fn text(&self, why: &str) -> String {
        format!(
            "Sandhaven did not pass this request on to {}: {why}.",
            self.name
        )
    }

    /// One event for each secret that the request got, and one for a request without.
    pub fn report_passed(&self, secrets: Vec<Arc<str>>) {
        let is_alone = secrets.is_empty().then_some(None);
        for secret in secrets.into_iter().map(Some).chain(is_alone) {
            self.connection.events.push(Event {
                allowed: true,
                secret,
                ..self.event()
            });
        }
    }

    pub fn report_refused(&self, why: &'static str) {
        self.connection.events.push(Event {
            why: Some(why),
            ..self.event()
        });
    }

    fn event(&self) -> Event {
        Event {
            name: Some(self.name.clone()),
            address: Some(*self.connection.destination.ip()),
            port: Some(self.port()),
            rule: self.connection.rule.clone(),
            ..Event::new(self.connection.live.sandbox.clone(), Protocol::Https)
        }
    }
}
