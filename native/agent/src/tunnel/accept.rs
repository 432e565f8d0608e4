//! The operation `accept`: takes a connection that a listener has named.

use serde::Deserialize;

use super::listeners::Listeners;
use super::relay::relay;
use crate::wire::connection::{Connection, Outcome};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    listener: u64,
    connection: u64,
}

pub async fn answer(
    connection: &mut Connection,
    listeners: &Listeners,
    request: Request,
) -> Outcome {
    let _turn = listeners.turn()?;
    let stream = listeners
        .waiting
        .take(request.listener, request.connection)?;
    connection.reply(&serde_json::json!({})).await?;
    relay(connection, &listeners.buffers, stream).await
}
