//! The operation `start_background`: answers once the command runs. Its output is discarded, and its end is
//! not awaited.

use serde::Deserialize;
use std::collections::BTreeMap;

use super::command::Command;
use super::report::Report;
use super::spawn::{self, supervisor_lost};
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
}

pub async fn answer(connection: &mut Connection, context: &Context, request: Request) -> Outcome {
    let command = Command::new(
        context,
        &request.argv,
        &request.cwd,
        &request.env,
        context.null()?,
    )?;
    let channel = spawn::spawn_detached(&command, &context.null()?)?;
    let mut started = false;
    // The supervisor ends without a further report once the command runs.
    while let Some((report, number)) = channel.next().await? {
        match report {
            Report::Started => started = true,
            failed => return Err(spawn::start_fault(&command.names, failed, number).into()),
        }
    }
    if !started {
        return Err(supervisor_lost().into());
    }
    connection.reply(&serde_json::json!({})).await
}
