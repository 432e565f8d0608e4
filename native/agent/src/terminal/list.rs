//! The operation `terminal_list`: lists the terminals, with their programs, and the time since the last work
//! in one of them.

use serde::{Deserialize, Serialize};

use super::registry::Registry;
use crate::exec::terminal::Size;
use crate::wire::connection::{Connection, Outcome};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
}

#[derive(Serialize)]
struct Summary<'a> {
    terminal_id: &'a str,
    created_ms: u64,
    size: Size,
    viewers: usize,
    program: String,
    busy: bool,
}

pub async fn answer(
    connection: &mut Connection,
    terminals: &Registry,
    _request: Request,
) -> Outcome {
    for terminal in terminals.all() {
        let summary = Summary {
            terminal_id: &terminal.id,
            created_ms: terminal.created_ms,
            size: terminal.size(),
            viewers: terminal.viewer_count(),
            program: terminal.program(),
            busy: terminal.busy(),
        };
        connection.item(&summary, &[]).await?;
    }
    let reply = serde_json::json!({ "busy": terminals.busy(), "idle_ms": terminals.idle_ms() });
    connection.reply(&reply).await
}
