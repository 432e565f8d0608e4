//! What is told of sessions and their commands.

use serde::Serialize;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::timeout;

use super::Run;
use super::record::{Record, Status};
use super::registry::Registry;
use super::state::Session;
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::Fault;

/// Of one session, in a list.
const RECENT_COMMANDS: usize = 20;
/// Whatever the host asks for.
pub const MAX_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

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

pub async fn list(connection: &mut Connection, registry: &Registry) -> Outcome {
    for session in registry.active() {
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
    let reply = serde_json::json!({ "busy": registry.busy(), "idle_ms": registry.idle_ms() });
    connection.reply(&reply).await
}

pub async fn run(connection: &mut Connection, registry: &Registry, request: Run) -> Outcome {
    let session = registry.find(&request.session_id)?;
    if session.closed() {
        return reply(connection, "closed", None, &[]).await;
    }
    if request.command.contains('\0') {
        return Err(Fault::invalid("command", "A NUL byte cannot be passed on.").into());
    }
    registry.check_queue(request.command.len())?;
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
    // A host that hangs up ends its waiting, not the command.
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

pub async fn logs(
    connection: &mut Connection,
    registry: &Registry,
    session_id: &str,
    command_id: &str,
) -> Outcome {
    let session = registry.find(session_id)?;
    let record = find_command(&session, command_id)?;
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

/// The state in which the command was found: input is sent to one that runs.
pub async fn type_in(
    registry: &Registry,
    session_id: &str,
    command_id: &str,
    mut input: String,
) -> Result<&'static str, Fault> {
    let session = registry.find(session_id)?;
    let record = find_command(&session, command_id)?;
    input.push('\n');
    let runs = || record.status() == Status::Running;
    if let (true, Some(terminal)) = (runs(), session.terminal()) {
        terminal.type_in(input.as_bytes(), runs).await?;
        return Ok("running");
    }
    Ok(state(&record))
}

async fn reply(
    connection: &mut Connection,
    state: &'static str,
    found: Option<(&Record, bool)>,
    parts: &[&[u8]],
) -> Outcome {
    #[derive(Serialize)]
    struct Reply {
        state: &'static str,
        exit_code: Option<i32>,
        truncated: bool,
        stdout_bytes: usize,
        stderr_bytes: usize,
        output_bytes: usize,
        /// How many bytes of output there were, kept or not.
        printed: u64,
    }
    let length = |index: usize| parts.get(index).map_or(0, |part| part.len());
    let reply = Reply {
        state,
        exit_code: found.and_then(|(record, _)| exit_code(record)),
        truncated: found.is_some_and(|(_, truncated)| truncated),
        stdout_bytes: length(0),
        stderr_bytes: length(1),
        output_bytes: length(2),
        printed: found.map_or(0, |(record, _)| record.captures().borrow().total()),
    };
    connection.reply_with_data(&reply, parts).await
}

/// Fails when what the command has printed is kept no longer.
pub fn find_log(record: &Record) -> Result<(), Fault> {
    if record.has_log() {
        return Ok(());
    }
    Err(no_command(format!(
        "The logs of command '{}' are gone: the sandbox keeps only so much of what commands that ended have \
         printed.",
        record.id
    )))
}

pub fn find_command(session: &Session, command_id: &str) -> Result<Rc<Record>, Fault> {
    session.find(command_id).ok_or_else(|| {
        no_command(format!(
            "Session '{}' knows no command '{command_id}'; it remembers the newest ones.",
            session.id
        ))
    })
}

fn no_command(detail: String) -> Fault {
    Fault::not_found("command", detail)
        .parameter("command_id")
        .hint("Sandbox.ListSessions shows the recent commands of each session.")
}

pub fn state(record: &Record) -> &'static str {
    match record.status() {
        Status::Queued => "queued",
        Status::Running => "running",
        Status::Completed(_) => "completed",
    }
}

pub fn exit_code(record: &Record) -> Option<i32> {
    match record.status() {
        Status::Completed(code) => Some(code),
        _ => None,
    }
}
