//! The operation `tcp`: a connection to the loopback, or from the sandbox to another host.

use serde::Deserialize;

use super::connect;
use super::listeners::Listeners;
use super::relay::relay;
use crate::init::context::Context;
use crate::wire::connection::{Connection, Outcome};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    port: u16,
    host: Option<String>,
}

pub async fn answer(
    connection: &mut Connection,
    context: &Context,
    listeners: &Listeners,
    request: Request,
) -> Outcome {
    let _turn = listeners.turn()?;
    let connecting = async {
        match &request.host {
            None => connect::to_loopback(request.port).await,
            Some(host) => connect::to_host(&context.workers, host, request.port).await,
        }
    };
    let stream = connection.unless_closed(connecting).await?;
    connection.reply(&serde_json::json!({})).await?;
    relay(connection, &listeners.buffers, stream).await
}
