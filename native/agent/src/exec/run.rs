//! The operation `exec`: runs a command to its end and answers with its output.

use serde::Deserialize;
use std::collections::BTreeMap;

use super::command::Command;
use super::execute::{Limits, execute, reply, watched};
use super::live::{Live, Wish};
use crate::init::context::Context;
use crate::wire::connection::{Connection, Outcome};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    pub user: Option<String>,
    argv: Vec<String>,
    cwd: String,
    env: BTreeMap<String, String>,
    timeout_ms: u64,
    /// Most bytes kept of each stream.
    output_bytes: usize,
    /// Output is sent while the command runs, too (version 4).
    #[serde(default)]
    live: bool,
    /// With `live`: no output is left out, and the command waits for the host (version 6).
    #[serde(default)]
    whole: bool,
}

pub async fn answer(connection: &mut Connection, context: &Context, request: Request) -> Outcome {
    let command = Command::new(
        context,
        &request.argv,
        &request.cwd,
        &request.env,
        context.null()?,
    )?;
    let limits = Limits::new(request.timeout_ms, request.output_bytes);
    let live = Live::wanted(Wish {
        live: request.live,
        whole: request.whole,
    })?;
    let work = execute(context, command, &limits, live.clone());
    let finished = watched(connection, live, work).await?;
    reply(connection, finished).await
}
