//! Programs that run while the host talks with them, with or without a terminal; the SFTP server is one of them.

mod conversation;
mod input;
mod outputs;
mod signals;
mod start;

use serde::Deserialize;
use std::collections::BTreeMap;

use crate::boot::SANDBOX_ROOT;
use crate::exec::terminal;
use crate::server::Context;
use crate::sftp;
use crate::wire::connection::{Connection, Outcome};
use start::Program;

#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    Process {
        v: u32,
        argv: Vec<String>,
        cwd: String,
        env: BTreeMap<String, String>,
        terminal: Option<terminal::Size>,
    },
    Sftp {
        v: u32,
    },
}

impl Request {
    pub fn version(&self) -> u32 {
        match self {
            Self::Process { v, .. } | Self::Sftp { v, .. } => *v,
        }
    }
}

pub async fn answer(connection: &mut Connection, context: &Context, request: Request) -> Outcome {
    let (program, size) = match request {
        Request::Process {
            argv,
            cwd,
            env,
            terminal,
            ..
        } => (Program::of_sandbox(argv, cwd, env), terminal),
        Request::Sftp { .. } => {
            let argv = sftp::ARGV.map(str::to_owned).into();
            (Program::of_agent(argv, SANDBOX_ROOT.to_owned()), None)
        }
    };
    let starting = match size {
        Some(size) => program.start_with_terminal(size)?,
        None => program.start_with_pipes()?,
    };
    let running = connection.unless_closed(starting.running(context)).await?;
    conversation::hold(connection, running).await
}
