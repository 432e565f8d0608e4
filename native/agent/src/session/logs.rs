//! The operation `session_logs`: the three streams of a command so far.

use serde::Deserialize;

use super::registry::Registry;
use super::replies::{find_command, find_log, reply, state};
use crate::wire::connection::{Connection, Outcome};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    session_id: String,
    command_id: String,
}

pub async fn answer(connection: &mut Connection, sessions: &Registry, request: Request) -> Outcome {
    let session = sessions.find(&request.session_id)?;
    let record = find_command(&session, &request.command_id)?;
    find_log(&record)?;
    let collected = record.captures().borrow().snapshot();
    let truncated =
        collected.stdout.truncated || collected.stderr.truncated || collected.output.truncated;
    let parts = [
        collected.stdout.bytes.as_slice(),
        &collected.stderr.bytes,
        &collected.output.bytes,
    ];
    reply(
        connection,
        state(&record),
        Some((&record, truncated)),
        &parts,
    )
    .await
}
