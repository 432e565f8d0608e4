//! A connection from its arrival on: its sandbox, its destination, and the first byte, which selects the handler.

use super::context::Gate;
use super::destination::{is_reachable, original};
use super::pass::pass;
use super::session::Session;
use super::{http, tls, unruled};
use crate::bounds::{FIRST_BYTES, FIRST_BYTES_TIMEOUT};
use crate::events::{Event, Protocol};
use crate::policy::Kind;
use crate::stream::{Half, prepare};
use crate::tls::HANDSHAKE;
use crate::world::{Refusal, Ticket};
use std::net::Ipv4Addr;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

/// Serves it until it ends or must end. Every end that is not made orderly is a reset.
pub async fn serve(gate: Arc<Gate>, client: TcpStream, source: Ipv4Addr) {
    prepare(&client);
    let ticket = match Ticket::take(&gate.world, source) {
        Ok(ticket) => ticket,
        Err(Refusal::UnknownSource) => return,
        Err(Refusal::TooMany { sandbox }) => {
            let why = Some("too many connections");
            return gate.events.push(Event {
                why,
                ..Event::new(sandbox, Protocol::Tcp)
            });
        }
    };
    let client = Arc::new(client);
    tokio::select! {
        biased;
        () = ticket.live.stop.raised() => {}
        () = decide(&gate, &client, &ticket) => {}
    }
    // A policy is in force once the tickets of the connections that it ends are gone.
    drop(client);
    drop(ticket);
}

async fn decide(gate: &Arc<Gate>, client: &Arc<TcpStream>, ticket: &Ticket) {
    let Ok(destination) = original(client) else {
        return;
    };
    let session = Session {
        gate,
        client,
        live: &ticket.live,
        destination,
    };
    if !is_reachable(gate, *destination.ip()) {
        return session.report_refused(
            Kind::Tcp,
            None,
            "the address is not public, or the host's own",
        );
    }
    if let Some((rule, asked)) = gate.world.decide_tcp(&ticket.live, destination) {
        return pass(&session, asked, Some(rule), Half::new(client)).await;
    }
    if gate.world.is_open(&ticket.live) {
        return unruled::serve(&session, Half::new(client)).await;
    }
    let deadline = Instant::now() + FIRST_BYTES_TIMEOUT;
    let mut half = Half::new(client);
    match timeout_at(deadline, half.read(FIRST_BYTES)).await {
        Ok(Ok(0) | Err(_)) => return,
        Err(_) => return session.report_refused(Kind::Tcp, None, "no first bytes in time"),
        Ok(Ok(_)) => {}
    }
    match half.bytes[0] {
        HANDSHAKE => tls::serve(&session, half, deadline).await,
        byte if byte.is_ascii_alphabetic() => http::serve(&session, half, deadline).await,
        _ => session.report_refused(
            Kind::Tcp,
            None,
            "neither TLS nor HTTP, and no rule for tcp allows it",
        ),
    }
}
