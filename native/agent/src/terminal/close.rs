//! The operation `terminal_close`: sends SIGHUP to the programs in a terminal, and answers when they have ended.

use serde::Deserialize;

use super::registry::Registry;
use crate::wire::connection::{Connection, Outcome};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    terminal_id: String,
}

pub async fn answer(
    connection: &mut Connection,
    terminals: &Registry,
    request: Request,
) -> Outcome {
    let id = &request.terminal_id;
    let terminal = terminals.find(id).ok_or_else(|| Registry::not_found(id))?;
    terminal.closing.notify_one();
    let ended = async {
        terminal.ended().await;
        Ok(())
    };
    connection.unless_closed(ended).await?;
    connection.reply(&serde_json::json!({})).await
}
