//! The operation `session_input`: types into the terminal of a command that runs.

use serde::Deserialize;

use super::record::Status;
use super::registry::Registry;
use super::replies::{find_command, state};
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::Fault;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    session_id: String,
    command_id: String,
    /// A newline is added, unless it goes as it is.
    input: String,
    /// Since version 7.
    #[serde(default)]
    as_is: bool,
}

pub async fn answer(connection: &mut Connection, sessions: &Registry, request: Request) -> Outcome {
    let state = connection.unless_closed(type_in(sessions, request)).await?;
    connection
        .reply(&serde_json::json!({ "state": state }))
        .await
}

/// Returns the state in which the command was found; only a running one gets the input.
async fn type_in(sessions: &Registry, request: Request) -> Result<&'static str, Fault> {
    let session = sessions.find(&request.session_id)?;
    let record = find_command(&session, &request.command_id)?;
    let mut input = request.input;
    if !request.as_is {
        input.push('\n');
    }
    let runs = || record.status() == Status::Running;
    if let (true, Some(terminal)) = (runs(), session.terminal()) {
        terminal.type_in(input.as_bytes(), runs).await?;
        return Ok("running");
    }
    Ok(state(&record))
}
