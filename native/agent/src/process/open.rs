//! The operation `process`: starts a program, with a terminal where the host asks for one, and connects the
//! host with it.

use serde::Deserialize;
use std::collections::BTreeMap;

use super::conversation;
use super::start::Program;
use crate::exec::terminal;
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
    terminal: Option<terminal::Size>,
}

pub async fn answer(connection: &mut Connection, context: &Context, request: Request) -> Outcome {
    let program = Program::of_sandbox(request.argv, request.cwd, request.env);
    let starting = match request.terminal {
        Some(size) => program.start_with_terminal(context, size)?,
        None => program.start_with_pipes(context)?,
    };
    let running = connection.unless_closed(starting.running(context)).await?;
    conversation::hold(connection, running).await
}
