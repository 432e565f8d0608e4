//! Connections to and from the sandbox's own loopback.

use serde::Deserialize;

use crate::connection::{Connection, Outcome};
use crate::fault::{Code, Fault};
use crate::server::Context;

/// What listens inside for the host, with the connections that it has yet to take.
#[derive(Default)]
pub struct Listeners {}

#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    Tcp { v: u32 },
    Listen { v: u32 },
    Accept { v: u32 },
    Ports { v: u32 },
}

impl Request {
    pub fn version(&self) -> u32 {
        match self {
            Self::Tcp { v, .. }
            | Self::Listen { v, .. }
            | Self::Accept { v, .. }
            | Self::Ports { v, .. } => *v,
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
