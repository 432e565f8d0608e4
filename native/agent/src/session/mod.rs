//! Shells that outlive a connection, with the logs of their commands.

use serde::Deserialize;

use crate::connection::{Connection, Outcome};
use crate::fault::{Code, Fault};
use crate::server::Context;

/// All sessions of the sandbox, and the logs of their commands.
#[derive(Default)]
pub struct Sessions {}

#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    SessionCreate { v: u32 },
    SessionList { v: u32 },
    SessionRun { v: u32 },
    SessionLogs { v: u32 },
    SessionInput { v: u32 },
}

impl Request {
    pub fn version(&self) -> u32 {
        match self {
            Self::SessionCreate { v, .. }
            | Self::SessionList { v, .. }
            | Self::SessionRun { v, .. }
            | Self::SessionLogs { v, .. }
            | Self::SessionInput { v, .. } => *v,
        }
    }
}

pub async fn answer(
    _connection: &mut Connection,
    _context: &Context,
    _request: Request,
) -> Outcome {
    Err(Fault::new(Code::Internal, "not there").into())
}
