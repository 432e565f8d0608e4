//! HTTP: reads every request on a connection, decides about each, and passes it on byte for byte. The next
//! request is read once the response to the last one is complete, so that an answer of the gate never lands
//! inside another one.

use super::exchange::{After, exchange};
use super::refusal::{answer, forbidden};
use super::relay::relay;
use super::session::{Ending, Session};
use crate::bounds::{FIRST_BYTES, FIRST_BYTES_TIMEOUT, NEXT_REQUEST_TIMEOUT};
use crate::http::{Fault, Request};
use crate::policy::{Asked, Kind};
use crate::stream::{Half, connect, make_orderly, take_leave};
use crate::world::{Decision, RuleName};
use std::io::Result;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};

pub async fn serve(session: &Session<'_>, mut client: Half<'_>, deadline: Instant) {
    let Some((request, rule)) = next_request(session, &mut client, deadline).await else {
        return;
    };
    let mut ending = report(session, &request, rule);
    let Some(stream) = connect(session.destination).await else {
        return take_leave(
            session.client,
            &answer(502, "No server answers at this address.\n"),
        )
        .await;
    };
    let mut upstream = Half::new(&stream);
    let mut request = request;
    loop {
        match exchange(session.live, &request, &mut client, &mut upstream).await {
            Ok(After::NextRequest) => {}
            Ok(After::Nothing) => return part(session, &stream).await,
            Ok(After::Upgrade) => return upgrade(session, client, upstream, &stream).await,
            Err(_) => return,
        }
        if !is_next_there(session, &mut client, &mut upstream)
            .await
            .unwrap_or(false)
        {
            return part(session, &stream).await;
        }
        let deadline = Instant::now() + FIRST_BYTES_TIMEOUT;
        let Some((next, rule)) = next_request(session, &mut client, deadline).await else {
            return;
        };
        if !ending.is_of(host(&next), &rule) {
            ending = report(session, &next, rule);
        }
        request = next;
    }
}

/// Ends both sides in order.
async fn part(session: &Session<'_>, upstream: &TcpStream) {
    make_orderly(upstream);
    take_leave(session.client, &[]).await;
}

fn host(request: &Request) -> Option<&str> {
    request
        .authority
        .as_ref()
        .and_then(|authority| authority.name())
}

fn report<'a>(session: &'a Session<'a>, request: &Request, rule: RuleName) -> Ending<'a> {
    session.report_allowed(Kind::Http, host(request).map(str::to_owned), rule)
}

/// Reads a request and decides about it. None where it is refused and answered, or where none comes.
async fn next_request(
    session: &Session<'_>,
    client: &mut Half<'_>,
    deadline: Instant,
) -> Option<(Request, RuleName)> {
    let request = match timeout_at(deadline, read(client)).await {
        Ok(Ok(request)) => request?,
        Ok(Err(fault)) => {
            session.report_refused(Kind::Http, None, fault.why);
            let text = format!("The request is refused: {}.\n", fault.why);
            take_leave(session.client, &answer(fault.status, &text)).await;
            return None;
        }
        Err(_) => {
            session.report_refused(Kind::Http, None, "no whole request in time");
            return None;
        }
    };
    let name = host(&request).map(str::to_owned);
    match decide(session, &request) {
        Decision::Allowed(rule) => Some((request, rule)),
        Decision::Refused(why) => {
            let text = forbidden(
                &session.live.sandbox,
                name.as_deref(),
                session.destination,
                why,
            );
            session.report_refused(Kind::Http, name, why);
            take_leave(session.client, &text).await;
            None
        }
    }
}

fn decide(session: &Session<'_>, request: &Request) -> Decision {
    let stated_port = request
        .authority
        .as_ref()
        .and_then(|authority| authority.stated_port());
    if stated_port.is_some_and(|port| port != session.destination.port()) {
        return Decision::Refused("Host has another port than the connection");
    }
    session.decide(Asked {
        method: request.method.clone(),
        path: request.path.clone(),
        ..session.asked(Kind::Http, host(request).map(str::to_owned))
    })
}

/// Ok(None) where the client ended.
async fn read(client: &mut Half<'_>) -> std::result::Result<Option<Request>, Fault> {
    let mut looked_at = 0;
    loop {
        // A head is parsed again only after a further line of it, however small the pieces are.
        let request = match client.bytes[looked_at..].contains(&b'\n') {
            true => Request::read(&client.bytes)?,
            false => None,
        };
        if request.is_some() {
            return Ok(request);
        }
        looked_at = client.bytes.len();
        let room = FIRST_BYTES.saturating_sub(looked_at);
        if room == 0 {
            return Err(Fault {
                status: 431,
                why: "a head that is too long",
            });
        }
        match client.read(room).await {
            Ok(1..) => {}
            _ => return Ok(None),
        }
    }
}

/// Waits for the client's next byte. False where the client ends or takes too long, or where the server sends
/// something or ends first.
async fn is_next_there(
    session: &Session<'_>,
    client: &mut Half<'_>,
    upstream: &mut Half<'_>,
) -> Result<bool> {
    if !client.bytes.is_empty() {
        return Ok(true);
    }
    let first = async {
        tokio::select! {
            count = client.read(FIRST_BYTES) => Ok(count? > 0),
            count = upstream.read(FIRST_BYTES) => {
                count?;
                Ok(false)
            }
        }
    };
    let is_there = timeout(NEXT_REQUEST_TIMEOUT, first)
        .await
        .unwrap_or(Ok(false));
    let unasked = upstream.bytes.len();
    upstream.pass(unasked, session.client).await?;
    is_there
}

/// After a switch of protocols all bytes are passed on, also those that were read already.
async fn upgrade(
    session: &Session<'_>,
    mut client: Half<'_>,
    mut upstream: Half<'_>,
    stream: &TcpStream,
) {
    let (sent, received) = (client.bytes.len(), upstream.bytes.len());
    if client.pass(sent, stream).await.is_err()
        || upstream.pass(received, session.client).await.is_err()
    {
        return;
    }
    session.live.count_sent(sent);
    session.live.count_received(received);
    if relay(session.client, stream, &session.gate.pipes, session.live)
        .await
        .is_ok()
    {
        make_orderly(session.client);
        make_orderly(stream);
    }
}
