//! TLS: reads the hello, decides by its server name, and passes the connection on unopened, unless the server
//! is a target of a secret.

use super::pass::pass;
use super::session::Session;
use crate::bounds::FIRST_BYTES;
use crate::open::{self, Connection, Opening};
use crate::policy::{Asked, Kind};
use crate::stream::{Half, take_leave};
use crate::tls::{ACCESS_DENIED, Hello, Unread, read};
use crate::world::{Decision, RuleName};
use tokio::time::{Instant, timeout_at};

pub async fn serve(session: &Session<'_>, mut half: Half<'_>, deadline: Instant) {
    let name = match timeout_at(deadline, hello(&mut half)).await {
        Ok(Ok(hello)) => hello.server_name,
        Ok(Err(why)) => return refuse(session, None, why).await,
        Err(_) => return session.report_refused(Kind::Tls, None, "no whole hello in time"),
    };
    let asked = session.asked(Kind::Tls, name.clone());
    match session.decide(asked.clone()) {
        Decision::Allowed(rule) => go_on(session, asked, rule, half).await,
        Decision::Refused(_) if name.is_none() => refuse(session, None, "no server name").await,
        Decision::Refused(why) => refuse(session, name, why).await,
    }
}

/// Passes the connection on: opened where the server is a target of a secret, and unopened otherwise.
pub async fn go_on(session: &Session<'_>, asked: Asked, rule: RuleName, half: Half<'_>) {
    let (gate, port) = (session.gate, session.destination.port());
    let name = asked.name.as_deref().unwrap_or_default();
    let opening = match Opening::of(&gate.world, session.live, name, port) {
        Some(Ok(opening)) => opening,
        Some(Err(why)) => return refuse(session, asked.name, why).await,
        None => return pass(session, asked, rule, half).await,
    };
    let _ending = session.report_allowed(Kind::Tls, asked.name.clone(), rule.clone());
    let connection = Connection {
        world: gate.world.clone(),
        events: gate.events.clone(),
        roots: gate.roots.clone(),
        client: session.client.clone(),
        live: session.live.clone(),
        destination: session.destination,
        rule,
    };
    if let Err(why) = open::serve(connection, half.bytes, opening).await {
        session.report_refused(Kind::Tls, asked.name, why);
    }
}

async fn hello(half: &mut Half<'_>) -> Result<Hello, &'static str> {
    loop {
        match read(&half.bytes) {
            Ok(hello) => return Ok(hello),
            Err(Unread::Malformed(why)) => return Err(why),
            Err(Unread::Incomplete) => {}
        }
        let room = FIRST_BYTES - half.bytes.len();
        if room == 0 {
            return Err("a hello that is too long");
        }
        match half.read(room).await {
            Ok(1..) => {}
            _ => return Err("the client ended within its hello"),
        }
    }
}

async fn refuse(session: &Session<'_>, name: Option<String>, why: &'static str) {
    session.report_refused(Kind::Tls, name, why);
    take_leave(session.client, &ACCESS_DENIED).await;
}
