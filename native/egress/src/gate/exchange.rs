//! Relays one request and its response at the same time.

use crate::bounds::RESPONSE_HEAD;
use crate::http::{Body, Framing, Request, Response};
use crate::stream::Half;
use crate::world::Live;
use std::io::Result;
use std::pin::pin;
use tokio::net::TcpStream;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    NextRequest,
    /// The connection is used up.
    Nothing,
    /// Both sides speak another protocol from now on.
    Upgrade,
}

/// Bytes of one read; as many of each side may wait for the other.
const PIECE: usize = 16 * 1024;

enum Broken {
    Client,
    /// It may have answered before it had the whole request.
    Upstream,
}

/// Fails where the connection must not look complete: the request is malformed, or one side is gone.
pub async fn exchange(
    live: &Live,
    request: &Request,
    client: &mut Half<'_>,
    upstream: &mut Half<'_>,
) -> Result<After> {
    let (to_client, to_upstream) = (client.stream, upstream.stream);
    let mut sending = pin!(send(live, request, client, to_upstream));
    let mut receiving = pin!(receive(live, request, upstream, to_client));
    let mut sent = None;
    let after = loop {
        tokio::select! {
            result = &mut sending, if sent.is_none() => match result {
                Ok(()) => sent = Some(true),
                Err(Broken::Upstream) => sent = Some(false),
                Err(Broken::Client) => return Err(std::io::ErrorKind::ConnectionAborted.into()),
            },
            after = &mut receiving => break after?,
        }
    };
    match (after, sent) {
        // An early answer: the rest of the body must still be read.
        (After::NextRequest, None) => match sending.await {
            Ok(()) => Ok(After::NextRequest),
            Err(_) => Ok(After::Nothing),
        },
        (After::NextRequest, Some(false)) => Ok(After::Nothing),
        (after, _) => Ok(after),
    }
}

async fn send(
    live: &Live,
    request: &Request,
    client: &mut Half<'_>,
    to: &TcpStream,
) -> std::result::Result<(), Broken> {
    client
        .pass(request.length, to)
        .await
        .map_err(|_| Broken::Upstream)?;
    live.count_sent(request.length);
    let mut body = Body::new(request.framing);
    loop {
        let count = body.take(&client.bytes).map_err(|_| Broken::Client)?;
        client.pass(count, to).await.map_err(|_| Broken::Upstream)?;
        live.count_sent(count);
        if body.is_over() {
            return Ok(());
        }
        match client.read(PIECE).await {
            Ok(1..) => {}
            _ => return Err(Broken::Client),
        }
    }
}

async fn receive(
    live: &Live,
    request: &Request,
    upstream: &mut Half<'_>,
    to: &TcpStream,
) -> Result<After> {
    loop {
        let response = read_head(&request.method, upstream).await?;
        upstream.pass(response.length, to).await?;
        live.count_received(response.length);
        if response.is_interim() {
            continue;
        }
        if response.status == 101 && request.is_upgrade {
            return Ok(After::Upgrade);
        }
        // A server that switches protocols unasked gets no further request.
        let framing = if response.status == 101 {
            Framing::UntilEnd
        } else {
            response.framing
        };
        return receive_body(live, framing, upstream, to).await;
    }
}

async fn read_head(method: &str, upstream: &mut Half<'_>) -> Result<Response> {
    loop {
        if let Some(response) = Response::read(&upstream.bytes, method) {
            return Ok(response);
        }
        if upstream.bytes.len() >= RESPONSE_HEAD || upstream.read(PIECE).await? == 0 {
            return Ok(Response::UNREADABLE);
        }
    }
}

/// Relays the body. A body with broken framing lasts until the connection ends.
async fn receive_body(
    live: &Live,
    framing: Framing,
    upstream: &mut Half<'_>,
    to: &TcpStream,
) -> Result<After> {
    let mut body = Body::new(framing);
    let mut is_framed = framing != Framing::UntilEnd;
    loop {
        let count = body.take(&upstream.bytes).unwrap_or_else(|_| {
            (body, is_framed) = (Body::new(Framing::UntilEnd), false);
            upstream.bytes.len()
        });
        upstream.pass(count, to).await?;
        live.count_received(count);
        if body.is_over() {
            return Ok(After::NextRequest);
        }
        if upstream.read(PIECE).await? == 0 {
            // A body that breaks off must not look complete.
            return if is_framed {
                Err(std::io::ErrorKind::UnexpectedEof.into())
            } else {
                Ok(After::Nothing)
            };
        }
    }
}
