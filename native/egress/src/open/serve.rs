//! An opened connection from its hello on: both handshakes, then HTTP on both sides until one of them ends.

use super::alpn::offered;
use super::exchange::exchange;
use super::flow::{Coalesced, Socket, Streams, in_turns};
use super::handshake::{hello, is_http_2, with_client};
use super::opened::{Connection, Opened};
use super::opening::Opening;
use super::server::{Running, Server};
use super::upgrade::Upgrade;
use super::upstream::{Upstream, secure};
use crate::bounds::{
    HANDSHAKE_TIMEOUT, HTTP_BUFFER, NEXT_REQUEST_TIMEOUT, STREAM_BUFFER, STREAMS, WINDOW,
};
use crate::stream::{connect, make_orderly, take_leave};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::future::pending;
use std::pin::{Pin, pin};
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::server::TlsStream;

/// Serves the connection, and holds the opening's place until the end. `first` has bytes that were read from
/// the client before. Fails with the reason where TLS with the client fails.
pub async fn serve(
    connection: Connection,
    first: Vec<u8>,
    opening: Opening,
) -> Result<(), &'static str> {
    let Opening {
        name, owner, vault, ..
    } = &opening;
    let client = connection.client.clone();
    let hello = within(hello(Socket::of_client(client.clone(), first), name))
        .await
        .flatten();
    let hello = hello.ok_or("the hello of TLS cannot be answered")?;
    let offers = offered(&hello.client_hello());
    let stream = connect(connection.destination).await.map(Arc::new);
    let upstream = reach(&connection, &offers, &stream, name).await;
    let leaf = vault
        .authority
        .leaf(name)
        .ok_or("no certificate fits this name")?;
    let secured = within(with_client(hello, leaf, upstream.as_ref().ok()))
        .await
        .flatten();
    let secured = secured.ok_or(NOT_TRUSTED)?;
    let mut streams = Streams::default();
    let Ok((server, running)) = Server::start(upstream, &mut streams).await else {
        return Ok(());
    };
    let opened = Arc::new(Opened {
        connection,
        owner: owner.clone(),
        name: name.clone(),
        server,
        upgrade: Upgrade::default(),
    });
    let talked = talk(secured, opened, running, &mut streams).await;
    // The client's bytes may be malformed, and still it should get the answer.
    if talked.is_ok() || talked.is_err_and(|error| error.is_parse()) {
        if let Some(stream) = &stream {
            make_orderly(stream);
        }
        take_leave(&client, &[]).await;
    }
    Ok(())
}

const NOT_TRUSTED: &str =
    "TLS with the client failed: it may not trust the authority of its sandbox";

async fn within<T>(step: impl Future<Output = T>) -> Option<T> {
    timeout(HANDSHAKE_TIMEOUT, step).await.ok()
}

async fn reach(
    connection: &Connection,
    offers: &[Vec<u8>],
    stream: &Option<Arc<TcpStream>>,
    name: &str,
) -> Result<Upstream, &'static str> {
    let roots = connection
        .roots
        .as_ref()
        .ok_or("this host trusts no authority")?;
    let stream = stream.as_ref().ok_or("no server answers at this address")?;
    let socket = Socket::of_server(stream.clone(), connection.live.clone());
    let secured = within(secure(roots, socket, name, offers)).await;
    secured.unwrap_or(Err("the server took too long for TLS"))
}

/// Fails where the connection must not look complete.
async fn talk(
    client: TlsStream<Socket>,
    opened: Arc<Opened>,
    running: Running,
    streams: &mut Streams,
) -> hyper::Result<()> {
    let service = {
        let opened = opened.clone();
        service_fn(move |request| exchange(opened.clone(), request))
    };
    if is_http_2(&client) {
        let mut builder = http2::Builder::new(streams.arriving.clone());
        builder
            .max_concurrent_streams(STREAMS)
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW)
            .max_header_list_size(HTTP_BUFFER as u32)
            .max_send_buf_size(STREAM_BUFFER)
            .auto_date_header(false);
        let output = TokioIo::new(streams.output(client));
        let serving = builder.serve_connection(output, service);
        return both(&opened, serving, running, streams, |serving| {
            serving.graceful_shutdown()
        })
        .await;
    }
    let mut builder = http1::Builder::new();
    builder
        .preserve_header_case(true)
        .auto_date_header(false)
        .max_buf_size(HTTP_BUFFER)
        .max_header_size(HTTP_BUFFER)
        .timer(TokioTimer::new())
        .header_read_timeout(NEXT_REQUEST_TIMEOUT);
    let serving = builder
        .serve_connection(TokioIo::new(Coalesced(client)), service)
        .with_upgrades();
    both(&opened, serving, running, streams, |serving| {
        serving.graceful_shutdown()
    })
    .await
}

/// Serves the client beside the connection to the server. When the server ends its connection, the client's
/// is closed after the answers in progress.
async fn both<S: Future<Output = hyper::Result<()>>>(
    opened: &Opened,
    serving: S,
    mut running: Running,
    streams: &mut Streams,
    part: impl Fn(Pin<&mut S>),
) -> hyper::Result<()> {
    let mut serving = pin!(serving);
    let mut is_running = true;
    in_turns(|context| {
        if is_running && running.as_mut().poll(context).is_ready() {
            is_running = false;
            part(serving.as_mut());
        }
        let outcome = serving.as_mut().poll(context);
        streams.poll(context);
        outcome
    })
    .await?;
    // After a switch of protocols both connections carry plain bytes.
    let rest = async {
        if is_running {
            running.await;
        }
        pending::<()>().await;
    };
    tokio::select! {
        _ = opened.upgrade.relay() => {}
        () = rest => {}
    }
    Ok(())
}
