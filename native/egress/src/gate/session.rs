//! One connection for its handlers: its decisions, and their events.

use super::context::Gate;
use crate::events::{Event, Protocol};
use crate::policy::{Asked, Kind};
use crate::world::{Decision, Live, RuleName};
use std::net::SocketAddrV4;
use std::sync::Arc;
use tokio::net::TcpStream;

pub struct Session<'a> {
    pub gate: &'a Arc<Gate>,
    pub client: &'a Arc<TcpStream>,
    pub live: &'a Arc<Live>,
    pub destination: SocketAddrV4,
}

/// Reports the end of an allowed connection when it is dropped, whatever the cause. Requests for another host
/// on the connection have another `Ending`, which counts their bytes.
pub struct Ending<'a> {
    session: &'a Session<'a>,
    kind: Kind,
    name: Option<String>,
    rule: RuleName,
    /// Bytes of the connection before this one began.
    before: (u64, u64),
}

impl<'a> Session<'a> {
    pub fn decide(&self, asked: Asked) -> Decision {
        self.gate.world.decide(self.live, asked)
    }

    pub fn asked(&self, kind: Kind, name: Option<String>) -> Asked {
        Asked {
            kind,
            name,
            destination: self.destination,
            method: String::new(),
            path: String::new(),
        }
    }

    pub fn report_allowed(
        &'a self,
        kind: Kind,
        name: Option<String>,
        rule: RuleName,
    ) -> Ending<'a> {
        self.gate.events.push(Event {
            allowed: true,
            name: name.clone(),
            rule: rule.clone(),
            ..self.event(kind)
        });
        Ending {
            session: self,
            kind,
            name,
            rule,
            before: self.live.bytes(),
        }
    }

    pub fn report_refused(&self, kind: Kind, name: Option<String>, why: &'static str) {
        self.gate.events.push(Event {
            name,
            why: Some(why),
            ..self.event(kind)
        });
    }

    fn event(&self, kind: Kind) -> Event {
        let protocol = match kind {
            Kind::Tls => Protocol::Tls,
            Kind::Http => Protocol::Http,
            Kind::Tcp => Protocol::Tcp,
        };
        Event {
            address: Some(*self.destination.ip()),
            port: Some(self.destination.port()),
            ..Event::new(self.live.sandbox.clone(), protocol)
        }
    }
}

impl Ending<'_> {
    /// True where a further request has the same host and rule.
    pub fn is_of(&self, name: Option<&str>, rule: &RuleName) -> bool {
        self.name.as_deref() == name && self.rule == *rule
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        let (sent, received) = self.session.live.bytes();
        let was_stopped = self.session.live.stop.is_raised();
        self.session.gate.events.push(Event {
            allowed: true,
            name: self.name.take(),
            rule: self.rule.clone(),
            why: was_stopped.then_some("it is no longer allowed"),
            sent: sent - self.before.0,
            received: received - self.before.1,
            ended: true,
            ..self.session.event(self.kind)
        });
    }
}
