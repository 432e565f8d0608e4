//! Searching files for a pattern, and replacing it.

mod automaton;
mod backtrack;
mod blocks;
mod bracket;
mod budget;
mod classes;
mod content;
mod edit;
mod ere;
mod excerpt;
mod exclude;
mod expand;
mod expression;
mod folder;
#[cfg(test)]
mod grep_rules;
mod matcher;
mod program;
mod replace;
mod required;
mod template;
mod walk;

use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

use crate::files::location::Path;
use crate::files::{self, glob::Glob};
use crate::server::Context;
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::Fault;
use matcher::Matcher;

/// Ceilings, whatever the host asks for.
const MAX_ITEMS: usize = 10_000;
const MAX_CONTEXT: usize = 100;
const MAX_MATCHES: usize = 1_000;
const MAX_TIME_MS: u64 = 600_000;
const MAX_FILE_BYTES: u64 = 256 << 20;

#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    Search {
        v: u32,
        path: String,
        query: String,
        file_pattern: Option<String>,
        context_lines: usize,
        /// Of each file.
        max_matches: usize,
        max_items: usize,
        offset: usize,
        timeout_ms: u64,
        /// Since version 3, as `output`.
        #[serde(default)]
        literal: bool,
        #[serde(default)]
        output: content::Output,
    },
    Replace {
        v: u32,
        pattern: String,
        replacement: String,
        files: Vec<String>,
        /// Once globs are expanded.
        max_files: usize,
        /// Of each file, before and after.
        file_bytes: u64,
        file_timeout_ms: u64,
        timeout_ms: u64,
        /// Since version 3, as the two below.
        #[serde(default)]
        literal: bool,
        #[serde(default)]
        dry_run: bool,
        #[serde(default)]
        exclude: Vec<String>,
    },
}

impl Request {
    pub fn version(&self) -> u32 {
        match self {
            Self::Search { v, .. } | Self::Replace { v, .. } => *v,
        }
    }
}

pub async fn answer(connection: &mut Connection, context: &Context, request: Request) -> Outcome {
    let workers = &context.workers;
    match request {
        Request::Search {
            path,
            query,
            file_pattern,
            context_lines,
            max_matches,
            max_items,
            offset,
            timeout_ms,
            literal,
            output,
            ..
        } => {
            let path = Path::parse("path", &path)?;
            let file_pattern = file_pattern.as_deref().map(glob).transpose()?;
            let read = move || {
                let matcher = Matcher::read(&query, "query", literal)?;
                Ok((matcher.plain_reading(&query), matcher))
            };
            let (plain, matcher) = workers.short(read).await?;
            let literal = matcher.literal;
            let query = content::Query {
                path,
                matcher,
                plain,
                output,
                file_pattern,
                context: context_lines.min(MAX_CONTEXT),
                max_matches: max_matches.clamp(1, MAX_MATCHES),
                offset,
                max_items: max_items.min(MAX_ITEMS),
                time: milliseconds(timeout_ms),
            };
            let found = content::search(connection, workers, query).await?;
            files::send_items(connection, &found.files).await?;
            let mut reply = json!({ "total_count": found.total, "literal": literal });
            if let Some(count) = found.plain {
                reply["plain_count"] = count.into();
            }
            connection.reply(&reply).await
        }
        Request::Replace {
            pattern,
            replacement,
            files,
            max_files,
            file_bytes,
            file_timeout_ms,
            timeout_ms,
            literal,
            dry_run,
            exclude,
            ..
        } => {
            let order = replace::Order {
                pattern,
                replacement,
                files,
                literal,
                dry_run,
                exclude,
                max_files: max_files.min(MAX_ITEMS),
                file_bytes: file_bytes.min(MAX_FILE_BYTES),
                file_time: milliseconds(file_timeout_ms),
                time: milliseconds(timeout_ms),
            };
            let work = workers.long(move |cancelled| replace::replace(&order, cancelled));
            let done = connection.unless_closed(work).await?;
            files::send_items(connection, &done.rows).await?;
            let mut reply = json!({ "files_modified": done.modified, "literal": done.literal });
            if let Some(count) = done.plain {
                reply["plain_count"] = count.into();
            }
            connection.reply(&reply).await
        }
    }
}

fn milliseconds(given: u64) -> Duration {
    Duration::from_millis(given.min(MAX_TIME_MS))
}

fn glob(pattern: &str) -> Result<Glob, Fault> {
    Glob::new(pattern).map_err(|reason| {
        Fault::invalid(
            "file_pattern",
            format!("The pattern '{pattern}' is not a glob: {reason}."),
        )
        .hint("Put a backslash before a special character to mean it literally.")
    })
}
