//! Connections to and from the sandbox's own loopback.

mod buffers;
mod connect;
mod listen;
mod owners;
mod ports;
mod relay;
mod resolve;

use serde::Deserialize;
use std::cell::Cell;

use crate::server::Context;
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::{Code, Fault};
use buffers::Buffers;
use listen::Waiting;

/// Connections that are relayed at once: what is left of the agent's connections is for everything else.
const MAX_TUNNELS: usize = 320;

/// What listens inside for the host, with the connections that it has yet to take, and what relays share.
#[derive(Default)]
pub struct Listeners {
    waiting: Waiting,
    buffers: Buffers,
    tunnels: Cell<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// A connection to the loopback, or from the sandbox to another host.
    Tcp {
        v: u32,
        port: u16,
        host: Option<String>,
    },
    /// A listener, whose connections are named in items.
    Listen {
        v: u32,
        port: u16,
        #[serde(default)]
        everywhere: bool,
    },
    /// Takes a connection that a listener has named.
    Accept {
        v: u32,
        listener: u64,
        connection: u64,
    },
    /// What listens inside.
    Ports { v: u32 },
}

impl Request {
    pub fn version(&self) -> u32 {
        match self {
            Self::Tcp { v, .. }
            | Self::Listen { v, .. }
            | Self::Accept { v, .. }
            | Self::Ports { v } => *v,
        }
    }
}

pub async fn answer(connection: &mut Connection, context: &Context, request: Request) -> Outcome {
    let listeners = &context.listeners;
    match request {
        Request::Tcp { port, host, .. } => {
            let _turn = listeners.turn()?;
            let connecting = async {
                match &host {
                    None => connect::to_loopback(port).await,
                    Some(host) => connect::to_host(&context.workers, host, port).await,
                }
            };
            let stream = connection.unless_closed(connecting).await?;
            connection.reply(&serde_json::json!({})).await?;
            relay::relay(connection, &listeners.buffers, stream).await
        }
        Request::Listen {
            port, everywhere, ..
        } => listen::listen(connection, &listeners.waiting, port, everywhere).await,
        Request::Accept {
            listener,
            connection: number,
            ..
        } => {
            let _turn = listeners.turn()?;
            let stream = listeners.waiting.take(listener, number)?;
            connection.reply(&serde_json::json!({})).await?;
            relay::relay(connection, &listeners.buffers, stream).await
        }
        Request::Ports { .. } => ports::ports(connection, context).await,
    }
}

/// Counts a relayed connection for as long as it lives.
struct Turn<'a>(&'a Listeners);

impl Listeners {
    fn turn(&self) -> Result<Turn<'_>, Fault> {
        let open = self.tunnels.get();
        if open >= MAX_TUNNELS {
            return Err(Fault::new(
                Code::ResourceExhausted,
                format!("{open} connections into the sandbox are open."),
            )
            .hint("Close some of them, then try again."));
        }
        self.tunnels.set(open + 1);
        Ok(Turn(self))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let left = self.0.tunnels.get() - 1;
        self.0.tunnels.set(left);
        if left == 0 {
            self.0.buffers.clear();
        }
    }
}
