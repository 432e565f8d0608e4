//! The operation `process_list`: lists the detached processes, those included that ended not long ago.

use serde::{Deserialize, Serialize};

use super::registry::Registry;
use super::state::End;
use crate::exec::terminal::Size;
use crate::wire::connection::{Connection, Outcome};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
}

#[derive(Serialize)]
struct Summary<'a> {
    pid: i32,
    tag: Option<&'a str>,
    label: &'a str,
    started_ms: u64,
    terminal: Option<Size>,
    viewers: usize,
    output_bytes: u64,
    end: Option<Ended>,
}

#[derive(Serialize)]
struct Ended {
    #[serde(flatten)]
    end: End,
    ended_ms: u64,
}

pub async fn answer(
    connection: &mut Connection,
    processes: &Registry,
    _request: Request,
) -> Outcome {
    for process in processes.all() {
        let summary = Summary {
            pid: process.pid,
            tag: process.tag.as_deref(),
            label: &process.label,
            started_ms: process.started_ms,
            terminal: process.terminal.as_ref().map(|screen| screen.size()),
            viewers: process.viewer_count(),
            output_bytes: process.log().end(),
            end: process.end().map(|end| Ended {
                ended_ms: end.ended_ms,
                end,
            }),
        };
        connection.item(&summary, &[]).await?;
    }
    let reply = serde_json::json!({ "busy": processes.busy() });
    connection.reply(&reply).await
}
