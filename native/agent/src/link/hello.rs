//! The operation `hello`: negotiates a version, if this is the sandbox that the host names.

use serde::{Deserialize, Serialize};

use crate::init::context::Context;
use crate::init::root::Persistence;
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::{Code, Fault};
use crate::wire::request::newest_of;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    versions: Vec<u32>,
    sandbox_id: String,
    generation: u64,
}

#[derive(Serialize)]
struct Reply<'a> {
    version: u32,
    sandbox_id: &'a str,
    generation: u64,
    agent: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    persistence: Option<Persistence>,
}

pub async fn answer(connection: &mut Connection, context: &Context, request: Request) -> Outcome {
    let own = &context.identity;
    let version = newest_of(&request.versions)?;
    if request.sandbox_id != own.sandbox_id || request.generation != own.generation {
        return Err(Fault::new(
            Code::FailedPrecondition,
            format!(
                "This is {} of generation {}.",
                own.sandbox_id, own.generation
            ),
        )
        .into());
    }
    let reply = Reply {
        version,
        sandbox_id: &own.sandbox_id,
        generation: own.generation,
        agent: env!("CARGO_PKG_VERSION"),
        persistence: context.persistence,
    };
    connection.reply(&reply).await
}
