//! The operation `exec`: runs a command to its end and answers with what it printed.

use serde::Deserialize;
use std::collections::BTreeMap;

use super::command::Command;
use super::execute::{Limits, execute, reply};
use crate::init::context::Context;
use crate::wire::connection::{Connection, Outcome};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    argv: Vec<String>,
    cwd: String,
    env: BTreeMap<String, String>,
    timeout_ms: u64,
    /// Kept of each stream.
    output_bytes: usize,
}

pub async fn answer(connection: &mut Connection, context: &Context, request: Request) -> Outcome {
    let command = Command::new(&request.argv, &request.cwd, &request.env, context.null()?)?;
    let limits = Limits::new(request.timeout_ms, request.output_bytes);
    let finished = connection
        .unless_closed(execute(context, command, &limits))
        .await?;
    reply(connection, finished).await
}
