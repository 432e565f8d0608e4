//! File operations. Every path is resolved here, inside the sandbox, by this process.

mod copy;
pub mod durable;
mod enclosure;
pub mod find;
mod folder;
pub mod glob;
mod lines;
pub mod list;
pub mod location;
pub mod metadata;
pub mod owners;
pub mod page;
pub mod path_text;
pub mod reach;
pub mod regular;
mod relocate;
mod remove;
mod stream;
pub mod temporary;
pub mod write;

use serde::Serialize;
use serde_json::json;

use crate::message::{Core, Query};
use crate::server::Context;
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::Fault;
use crate::wire::frame::CONTROL_BYTES;
use enclosure::Enclosure;
use glob::Glob;
pub use location::Path;
use page::Page;
pub use regular::open_regular;

/// Of one page, whatever the host asks for.
const MAX_ITEMS: usize = 10_000;

pub async fn answer(connection: &mut Connection, context: &Context, request: Core) -> Outcome {
    let workers = &context.workers;
    match request {
        Core::List(query) => {
            let path = Path::parse("path", &query.path)?;
            let pattern = query.pattern.as_deref().map(parse_pattern).transpose()?;
            let page = page(&query);
            let work =
                workers.long(move |cancelled| list::list(&path, pattern.as_ref(), page, cancelled));
            let (entries, total) = connection.unless_closed(work).await?;
            reply_with_items(connection, &entries, total).await
        }
        Core::Find(query) => {
            let path = Path::parse("path", &query.path)?;
            let pattern = parse_pattern(query.pattern.as_deref().unwrap_or("*"))?;
            let page = page(&query);
            let work = workers.long(move |cancelled| find::find(&path, &pattern, page, cancelled));
            let (paths, total) = connection.unless_closed(work).await?;
            reply_with_items(connection, &paths, total).await
        }
        Core::Stat { path, .. } => {
            let path = Path::parse("path", &path)?;
            let metadata = workers.short(move || metadata::stat(&path)).await?;
            connection.reply(&metadata).await
        }
        Core::Read {
            path,
            start_line,
            end_line,
            max_bytes,
            ..
        } => {
            let range = lines::LineRange {
                start: start_line.unwrap_or(1),
                end: end_line,
            };
            let path = Path::parse("path", &path)?;
            lines::lines(connection, context, path, range, max_bytes).await
        }
        Core::ReadStream {
            path,
            start,
            end,
            max_unsized_bytes,
            ..
        } => {
            let path = Path::parse("path", &path)?;
            stream::stream(connection, context, path, (start, end), max_unsized_bytes).await
        }
        Core::Write {
            path,
            create_parents,
            mode,
            durable,
            new_beneath,
            ..
        } => {
            let target = write::Target {
                path: Path::parse("path", &path)?,
                create_parents,
                mode,
                durable,
                new_beneath: new_beneath.as_deref().map(Enclosure::open).transpose()?,
            };
            write::write(connection, context, target).await
        }
        Core::Mkdir { path, mode, .. } => {
            let path = Path::parse("path", &path)?;
            let reply = workers.short(move || folder::make(&path, mode)).await?;
            connection.reply(&reply).await
        }
        Core::Move {
            source,
            destination,
            ..
        } => {
            let source = Path::parse("source", &source)?;
            let destination = Path::parse("destination", &destination)?;
            let work =
                workers.long(move |cancelled| relocate::relocate(&source, &destination, cancelled));
            connection.unless_closed(work).await?;
            connection.reply(&json!({})).await
        }
        Core::Remove {
            path, recursive, ..
        } => {
            let path = Path::parse("path", &path)?;
            let work = workers.long(move |cancelled| remove::remove(&path, recursive, cancelled));
            connection.unless_closed(work).await?;
            connection.reply(&json!({})).await
        }
        _ => Err(Fault::invalid("op", "This is not an operation on files.").into()),
    }
}

fn parse_pattern(pattern: &str) -> Result<Glob, Fault> {
    Glob::new(pattern).map_err(|reason| {
        Fault::invalid(
            "pattern",
            format!("The pattern '{pattern}' is not a glob: {reason}."),
        )
        .hint("Put a backslash before a special character to mean it literally.")
    })
}

fn page(query: &Query) -> Page {
    Page::new(query.offset, query.max_items.min(MAX_ITEMS))
}

/// The items, then the count of all.
async fn reply_with_items(
    connection: &mut Connection,
    items: &[impl Serialize],
    total: usize,
) -> Outcome {
    send_items(connection, items).await?;
    connection.reply(&json!({ "total_count": total })).await
}

/// The items in as few frames as their bound allows.
pub async fn send_items(connection: &mut Connection, items: &[impl Serialize]) -> Outcome {
    let mut batch = Vec::new();
    let mut bytes = 0;
    for item in items {
        let length = serde_json::to_vec(item).map_or(0, |json| json.len() + 1);
        if bytes + length > CONTROL_BYTES / 2 {
            connection.item(&batch, &[]).await?;
            batch.clear();
            bytes = 0;
        }
        batch.push(item);
        bytes += length;
    }
    if !batch.is_empty() {
        connection.item(&batch, &[]).await?;
    }
    Ok(())
}
