//! Searching files for a pattern, and replacing it.

use serde::Deserialize;

use crate::connection::{Connection, Outcome};
use crate::fault::{Code, Fault};
use crate::server::Context;

#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    Search { v: u32 },
    Replace { v: u32 },
}

impl Request {
    pub fn version(&self) -> u32 {
        match self {
            Self::Search { v, .. } | Self::Replace { v, .. } => *v,
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
