//! The operation `session_run`: queues a command, and answers with its output when it ends or the wait is over.

use serde::Deserialize;
use std::time::Duration;
use tokio::time::timeout;

use super::registry::Registry;
use super::replies::{MAX_WAIT, reply, state};
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::Fault;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    session_id: String,
    command_id: String,
    command: String,
    /// The longest waits of the answer: for the command's turn, and then for its end.
    wait_turn_ms: u64,
    wait_run_ms: u64,
}

pub async fn answer(connection: &mut Connection, sessions: &Registry, request: Request) -> Outcome {
    let session = sessions.find(&request.session_id)?;
    if session.closed() {
        return reply(connection, "closed", None, &[]).await;
    }
    if request.command.contains('\0') {
        return Err(Fault::invalid("command", "A NUL byte cannot be passed on.").into());
    }
    sessions.check_queue(request.command.len())?;
    let record = session.enqueue(&request.command_id, request.command)?;
    let wait = |ms| Duration::from_millis(ms).min(MAX_WAIT);
    let waited = async {
        if timeout(wait(request.wait_turn_ms), record.begun())
            .await
            .is_ok()
        {
            let _ = timeout(wait(request.wait_run_ms), record.completed()).await;
        }
        Ok(())
    };
    // A host that hangs up ends its wait, and not the command.
    connection.unless_closed(waited).await?;
    let output = record.captures().borrow().interleaved();
    let parts = [&[] as &[u8], &[], &output.bytes];
    reply(
        connection,
        state(&record),
        Some((&record, output.truncated)),
        &parts,
    )
    .await
}
