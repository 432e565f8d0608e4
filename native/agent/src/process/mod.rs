//! Programs that run while the host talks with them, with or without a terminal; the SFTP server.

use serde::Deserialize;

use crate::connection::{Connection, Outcome};
use crate::fault::{Code, Fault};
use crate::server::Context;

#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    Process { v: u32 },
    Sftp { v: u32 },
}

impl Request {
    pub fn version(&self) -> u32 {
        match self {
            Self::Process { v, .. } | Self::Sftp { v, .. } => *v,
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
