//! The operation `search`: first finds the files that match, with several workers, then the lines of one page of them.

use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use std::time::Instant;

use super::page::{FileMatches, excerpts};
use super::query::{Output, Query};
use super::scan::scan;
use super::top::Top;
use crate::files::glob::Glob;
use crate::files::listing::page::Page;
use crate::files::location::Path;
use crate::init::context::Context;
use crate::init::workers::Workers;
use crate::search::bounds::{MAX_ITEMS, milliseconds};
use crate::search::budget::Budget;
use crate::search::expression::matcher::Matcher;
use crate::wire::connection::{Connection, Interrupted, Outcome};

/// Upper bounds, whatever the host asks for.
const MAX_CONTEXT: usize = 100;
const MAX_MATCHES: usize = 1_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    pub user: Option<String>,
    path: String,
    query: String,
    file_pattern: Option<String>,
    context_lines: usize,
    /// Most matches of each file.
    max_matches: usize,
    max_items: usize,
    offset: usize,
    timeout_ms: u64,
    /// Since version 3, as `output`.
    #[serde(default)]
    literal: bool,
    #[serde(default)]
    output: Output,
}

/// One page.
struct Found {
    files: Vec<FileMatches>,
    /// Number of all files that match.
    total: usize,
    /// Files that have the query as plain text, if none matches and there are any.
    plain: Option<usize>,
}

pub async fn answer(connection: &mut Connection, context: &Context, request: Request) -> Outcome {
    let workers = &context.workers;
    let path = Path::parse("path", &request.path, &context.base)?;
    let file_pattern = request.file_pattern.as_deref();
    let file_pattern = file_pattern
        .map(|pattern| Glob::parse("file_pattern", pattern))
        .transpose()?;
    let read = move || {
        let matcher = Matcher::read(&request.query, "query", request.literal)?;
        Ok((matcher.plain_reading(&request.query), matcher))
    };
    let (plain, matcher) = workers.short(read).await?;
    let literal = matcher.literal;
    let query = Query {
        path,
        matcher,
        plain,
        output: request.output,
        file_pattern,
        context: request.context_lines.min(MAX_CONTEXT),
        max_matches: request.max_matches.clamp(1, MAX_MATCHES),
        offset: request.offset,
        max_items: request.max_items.min(MAX_ITEMS),
        time: milliseconds(request.timeout_ms),
    };
    let found = search(connection, workers, query).await?;
    connection.items(&found.files).await?;
    let mut reply = json!({ "total_count": found.total, "literal": literal });
    if let Some(count) = found.plain {
        reply["plain_count"] = count.into();
    }
    connection.reply(&reply).await
}

/// Searches, and where an expression finds nothing, searches for its text, as far as time allows.
async fn search(
    connection: &mut Connection,
    workers: &Workers,
    query: Query,
) -> Result<Found, Interrupted> {
    let query = Arc::new(query);
    let opened = {
        let query = Arc::clone(&query);
        workers.short(move || Top::open(&query.path)).await?
    };
    let top = Arc::new(opened);
    let deadline = Instant::now() + query.time;
    let page = Page::new(query.offset, query.max_items);
    let (paths, total) = scan(connection, workers, &query, &top, (false, page, deadline)).await?;
    if total == 0 && query.plain.is_some() {
        let nothing = Page::new(0, 0);
        let plain = scan(connection, workers, &query, &top, (true, nothing, deadline)).await;
        return match plain {
            Err(Interrupted::Gone) => Err(Interrupted::Gone),
            plain => Ok(Found {
                files: Vec::new(),
                total,
                plain: plain
                    .ok()
                    .map(|(_, count)| count)
                    .filter(|count| *count > 0),
            }),
        };
    }
    let excerpts = workers.long(move |cancelled| {
        let budget = Budget::new(
            cancelled,
            deadline.saturating_duration_since(Instant::now()),
        );
        excerpts(&query, &top, paths, total, &budget)
    });
    let (files, total) = connection.unless_closed(excerpts).await?;
    Ok(Found {
        files,
        total,
        plain: None,
    })
}
