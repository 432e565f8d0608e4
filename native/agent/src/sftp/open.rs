//! The operation `sftp`: starts the agent's own program once more, as an SFTP server for the host.

use serde::Deserialize;

use super::entry::ARGV;
use crate::init::context::Context;
use crate::process::conversation;
use crate::process::start::Program;
use crate::wire::connection::{Connection, Outcome};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    pub user: Option<String>,
}

pub async fn answer(connection: &mut Connection, context: &Context, _request: Request) -> Outcome {
    let argv = ARGV.map(str::to_owned).into();
    let program = Program::of_agent(argv, context.base.folder().to_owned());
    let starting = program.start_with_pipes(context)?;
    let running = connection.unless_closed(starting.running(context)).await?;
    conversation::hold(connection, running).await
}
