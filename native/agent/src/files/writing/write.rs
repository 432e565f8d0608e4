//! The operation `write`: makes a file, or replaces its content at once.

use serde::Deserialize;

use super::enclosure::Enclosure;
use super::upload::{Target, Upload};
use crate::files::details::metadata::{self, Metadata};
use crate::files::location::Path;
use crate::init::context::Context;
use crate::wire::connection::{Connection, Interrupted, Outcome};
use crate::wire::fault::Fault;
use crate::wire::frame::DATA_CHUNK_BYTES;

/// Data and `end` follow.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    pub user: Option<String>,
    path: String,
    create_parents: bool,
    mode: Option<u32>,
    /// Since version 3.
    #[serde(default)]
    durable: bool,
    /// Since version 3: the file must not be there yet, and lie beneath this folder wherever links lead.
    new_beneath: Option<String>,
    /// Since version 7.
    metadata: Option<Metadata>,
    /// Since version 9: the user has root's access.
    #[serde(default)]
    privileged: bool,
}

/// The request's data is the content. A small file is one job of a worker; of a large one, the next chunk
/// arrives while one is written.
pub async fn answer(connection: &mut Connection, context: &Context, request: Request) -> Outcome {
    let target = Target {
        path: Path::parse("path", &request.path, &context.base)?,
        create_parents: request.create_parents,
        mode: request.mode,
        durable: request.durable,
        metadata: request.metadata,
        new_beneath: request
            .new_beneath
            .as_deref()
            .map(Enclosure::open)
            .transpose()?,
    };
    if target.mode.is_some_and(|mode| mode > 0o7777) {
        return Err(Fault::invalid("mode", "A mode is at most 07777.").into());
    }
    if let Some(metadata) = &target.metadata {
        metadata::check(metadata)?;
    }
    let workers = context.workers.with_access(request.privileged);
    let mut chunk = Vec::new();
    let mut more = collect(connection, &mut chunk).await?;
    let begin = move || Upload::begin(&target);
    if !more {
        let job = move || begin()?.end_with(&chunk);
        let reply = workers.short(job).await?;
        return connection.reply(&reply).await;
    }
    let mut upload = workers.short(begin).await?;
    let mut next = Vec::new();
    while more {
        let append = async {
            let job = move || {
                upload.append(&chunk)?;
                chunk.clear();
                Ok((upload, chunk))
            };
            Ok(workers.short(job).await?)
        };
        let (appended, received) = tokio::try_join!(append, collect(connection, &mut next))?;
        (upload, chunk, more) = (appended.0, next, received);
        next = appended.1;
    }
    let reply = workers.short(move || upload.end_with(&chunk)).await?;
    connection.reply(&reply).await
}

/// Collects about a chunk of the request's data. Returns true while more follows.
async fn collect(connection: &mut Connection, chunk: &mut Vec<u8>) -> Result<bool, Interrupted> {
    while chunk.len() < DATA_CHUNK_BYTES {
        if !connection.read_data(chunk).await? {
            return Ok(false);
        }
    }
    Ok(true)
}
