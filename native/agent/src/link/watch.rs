//! The operation `watch`: a connection that lasts as long as the sandbox, so that the host notices its end.

use serde::Deserialize;

use crate::wire::connection::{Connection, Outcome};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
}

pub async fn answer(connection: &mut Connection, _request: Request) -> Outcome {
    connection.reply(&serde_json::json!({})).await?;
    connection.closed().await;
    Ok(())
}
