//! The operation `listen`: listens inside for the host, and reports each connection in an item.

use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep, sleep_until};

use super::listeners::Listeners;
use super::waiting::DropWaiting;
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::{Code, Fault};
use crate::wire::resource::Resource;

/// Waiting connections of one listener; further ones stay in the kernel's queue.
const MAX_WAITING: usize = 64;
/// After an accept that failed for want of descriptors or memory.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    /// 0 is any free one.
    port: u16,
    #[serde(default)]
    everywhere: bool,
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

pub async fn answer(
    connection: &mut Connection,
    listeners: &Listeners,
    request: Request,
) -> Outcome {
    let port = request.port;
    let waiting = &listeners.waiting;
    let address = if request.everywhere {
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
    .resource(Resource::Port)
    .hint("Choose another port, or end the program that listens there; Sandbox.ListPorts names it.")
}
