//! The operation `session_list`: the active sessions, each with its newest commands.

use serde::{Deserialize, Serialize};

use super::registry::Registry;
use super::replies::{exit_code, state};
use crate::wire::connection::{Connection, Outcome};

/// Most commands shown of one session.
const RECENT_COMMANDS: usize = 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
}

#[derive(Serialize)]
struct Summary<'a> {
    session_id: &'a str,
    created_ms: u64,
    recent_commands: Vec<Command<'a>>,
}

#[derive(Serialize)]
struct Command<'a> {
    command_id: &'a str,
    command: &'a str,
    state: &'static str,
    exit_code: Option<i32>,
}

pub async fn answer(
    connection: &mut Connection,
    sessions: &Registry,
    _request: Request,
) -> Outcome {
    for session in sessions.active() {
        let records = session.records();
        let recent = records.iter().rev().take(RECENT_COMMANDS);
        let summary = Summary {
            session_id: &session.id,
            created_ms: session.created_ms,
            recent_commands: recent
                .map(|record| Command {
                    command_id: &record.id,
                    command: &record.excerpt,
                    state: state(record),
                    exit_code: exit_code(record),
                })
                .collect(),
        };
        connection.item(&summary, &[]).await?;
    }
    let reply = serde_json::json!({ "busy": sessions.busy(), "idle_ms": sessions.idle_ms() });
    connection.reply(&reply).await
}
