//! Answers about a command that several operations give: its state, its output, or the fault where there is none.

use serde::Serialize;
use std::rc::Rc;
use std::time::Duration;

use super::record::{Record, Status};
use super::state::Session;
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::Fault;
use crate::wire::resource::Resource;

/// An upper bound, whatever the host asks for.
pub const MAX_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

pub async fn reply(
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
        /// Bytes of all output, kept or not.
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

/// Fails when the command's log is no longer kept.
pub fn find_log(record: &Record) -> Result<(), Fault> {
    if record.has_log() {
        return Ok(());
    }
    Err(no_command(format!(
        "The logs of command '{}' are gone: the sandbox keeps only part of the output of ended commands.",
        record.id
    )))
}

pub fn find_command(session: &Session, command_id: &str) -> Result<Rc<Record>, Fault> {
    session.find(command_id).ok_or_else(|| {
        no_command(format!(
            "Session '{}' has no command '{command_id}'; it remembers the newest ones.",
            session.id
        ))
    })
}

fn no_command(detail: String) -> Fault {
    Fault::not_found(Resource::Command, detail)
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
