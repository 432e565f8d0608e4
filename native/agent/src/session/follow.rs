//! The operation `session_follow`: waits for the next output of a command, after the reader's offset.

use serde::{Deserialize, Serialize};
use std::pin::pin;
use std::time::Duration;
use tokio::time::timeout;

use super::record::{Record, Status};
use super::registry::Registry;
use super::replies::{MAX_WAIT, exit_code, find_command, find_log, state};
use crate::exec::capture::incomplete_suffix;
use crate::wire::connection::{Connection, Outcome};

/// Silence after output for this long: the command probably waits for something, or for its reader.
const PAUSE: Duration = Duration::from_millis(300);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    session_id: String,
    command_id: String,
    /// Bytes of the output that the host has already. An offset past the output waits for the command's end.
    offset: u64,
    wait_ms: u64,
    /// Bytes come unchanged, with the place of bytes that are left out beside them instead of a marker (version 6).
    #[serde(default)]
    raw: bool,
    /// With `raw`: the answer says which stream each byte came from (version 7).
    #[serde(default)]
    streams: bool,
}

#[derive(Serialize)]
struct Reply {
    state: &'static str,
    exit_code: Option<i32>,
    truncated: bool,
    /// The offset of the next call.
    next_offset: u64,
    output_bytes: usize,
    #[serde(flatten)]
    gap: Option<Gap>,
    /// Lengths of the turns of stdout and stderr from the offset on, with those of bytes that are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    turns: Option<Vec<u64>>,
}

/// Bytes that a raw answer leaves out.
#[derive(Serialize)]
struct Gap {
    left_out: u64,
    /// Bytes of output before the gap.
    left_out_at: usize,
}

/// Answers when the command has ended, when it has printed past the offset and paused, or when the wait is over.
pub async fn answer(connection: &mut Connection, sessions: &Registry, request: Request) -> Outcome {
    let session = sessions.find(&request.session_id)?;
    let record = find_command(&session, &request.command_id)?;
    let wait = Duration::from_millis(request.wait_ms).min(MAX_WAIT);
    let waited = async {
        let news = async {
            tokio::select! {
                () = record.completed() => {}
                () = printed_past(&record, request.offset) => {}
            }
        };
        let _ = timeout(wait, news).await;
        Ok(())
    };
    connection.unless_closed(waited).await?;
    find_log(&record)?;
    if request.raw {
        return raw(connection, &record, &request).await;
    }
    let (mut new, total) = {
        let captures = record.captures().borrow();
        (captures.interleaved_since(request.offset), captures.total())
    };
    // The rest of a character may follow.
    let cut = match record.status() {
        Status::Completed(_) => 0,
        _ => incomplete_suffix(&new.bytes),
    };
    new.bytes.truncate(new.bytes.len() - cut);
    let reply = Reply {
        state: state(&record),
        exit_code: exit_code(&record),
        truncated: new.truncated,
        next_offset: total - cut as u64,
        output_bytes: new.bytes.len(),
        gap: None,
        turns: None,
    };
    connection.reply_with_data(&reply, &[&new.bytes]).await
}

async fn raw(connection: &mut Connection, record: &Record, request: &Request) -> Outcome {
    let (new, total, turns) = {
        let captures = record.captures().borrow();
        let turns = request
            .streams
            .then(|| captures.turns_since(request.offset));
        (
            captures.interleaved_parts(request.offset),
            captures.total(),
            turns,
        )
    };
    let reply = Reply {
        state: state(record),
        exit_code: exit_code(record),
        truncated: new.left_out > 0,
        next_offset: total,
        output_bytes: new.head.len() + new.tail.len(),
        gap: Some(Gap {
            left_out: new.left_out,
            left_out_at: new.head.len(),
        }),
        turns,
    };
    connection
        .reply_with_data(&reply, &[&new.head, &new.tail])
        .await
}

async fn printed_past(record: &Record, offset: u64) {
    let grown = record.captures().borrow().grown();
    loop {
        let mut more = pin!(grown.notified());
        // From here on no output is missed.
        more.as_mut().enable();
        if record.captures().borrow().total() <= offset {
            more.await;
        } else if timeout(PAUSE, more).await.is_err() {
            return;
        }
    }
}
