//! The operation `replace`: edits each file by itself, in the order named. A failure is a row of the answer,
//! and the other files are still edited.

use memchr::memmem::Finder;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::HashSet;

use super::edit::{Edit, Edited};
use super::exclude::Exclusions;
use super::expand::{expand, too_many};
use super::template::Template;
use crate::files::location::Path;
use crate::files::writing::upload::require_regular;
use crate::init::base::Base;
use crate::init::context::Context;
use crate::init::workers::Cancelled;
use crate::search::bounds::{MAX_ITEMS, milliseconds};
use crate::search::budget::Budget;
use crate::search::expression::matcher::Matcher;
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::{Code, Fault};

/// An upper bound, whatever the host asks for.
const MAX_FILE_BYTES: u64 = 256 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    pub user: Option<String>,
    pattern: String,
    replacement: String,
    files: Vec<String>,
    /// Most files, counted after the expansion of globs.
    max_files: usize,
    /// Most bytes of each file, before and after.
    file_bytes: u64,
    file_timeout_ms: u64,
    timeout_ms: u64,
    /// The pattern is plain text. Since version 3, as the two below.
    #[serde(default)]
    literal: bool,
    /// True for a dry run: no file is changed.
    #[serde(default)]
    dry_run: bool,
    /// Globs of excluded files.
    #[serde(default)]
    exclude: Vec<String>,
}

#[derive(Serialize)]
struct Row {
    path: String,
    status: &'static str,
    replacements: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

struct Done {
    rows: Vec<Row>,
    modified: usize,
    literal: bool,
    /// Places that have the pattern as plain text, if nothing was replaced and there are any.
    plain: Option<u64>,
}

pub async fn answer(connection: &mut Connection, context: &Context, request: Request) -> Outcome {
    let base = context.base.clone();
    let work = context
        .workers
        .long(move |cancelled| replace(&request, &base, cancelled));
    let done = connection.unless_closed(work).await?;
    connection.items(&done.rows).await?;
    let mut reply = json!({ "files_modified": done.modified, "literal": done.literal });
    if let Some(count) = done.plain {
        reply["plain_count"] = count.into();
    }
    connection.reply(&reply).await
}

fn replace(order: &Request, base: &Base, cancelled: &Cancelled) -> Result<Done, Fault> {
    let budget = Budget::new(cancelled, milliseconds(order.timeout_ms));
    let file_time = milliseconds(order.file_timeout_ms);
    let max_bytes = order.file_bytes.min(MAX_FILE_BYTES);
    if order.pattern.contains('\n') {
        return Err(Fault::invalid(
            "pattern",
            "A pattern cannot hold a newline: lines are edited one by one.",
        )
        .hint("Match within one line, or use Sandbox.ReadFile and Sandbox.WriteFile."));
    }
    let matcher = Matcher::read(&order.pattern, "pattern", order.literal)?;
    let plain = matcher.plain_reading(&order.pattern);
    let plain = plain.map(|_| Finder::new(order.pattern.as_bytes()));
    let template = Template::parse(&order.replacement, matcher.groups)?;
    let files = all_files(order, base, &budget)?;
    let mut scratch = matcher.scratch();
    // Folder and name of each file that was edited.
    let mut met = HashSet::new();
    let mut rows = Vec::new();
    let mut plain_count = 0;
    for file in files {
        cancelled.check()?;
        let edited = match file {
            Err((path, fault)) => Err((path, fault)),
            Ok(text) => {
                let part = budget.part(file_time);
                let mut edit = Edit {
                    matcher: &matcher,
                    template: &template,
                    scratch: &mut scratch,
                    plain: plain.as_ref(),
                    dry_run: order.dry_run,
                    max_bytes,
                    budget: &part,
                };
                match budget
                    .check()
                    .and_then(|()| one(&text, base, &mut edit, &mut met))
                {
                    Ok(None) => continue,
                    Ok(Some(edited)) => {
                        plain_count += edited.plain;
                        Ok((text, edited.replacements))
                    }
                    Err(fault) => Err((text, fault)),
                }
            }
        };
        rows.push(row(edited, budget.check().is_err()));
    }
    let modified = rows.iter().filter(|row| row.replacements > 0).count();
    Ok(Done {
        plain: (modified == 0 && plain_count > 0).then_some(plain_count),
        modified,
        rows,
        literal: matcher.literal,
    })
}

type Named = Result<String, (String, Fault)>;

/// Every glob is expanded before anything is replaced.
fn all_files(order: &Request, base: &Base, budget: &Budget) -> Result<Vec<Named>, Fault> {
    let max_files = order.max_files.min(MAX_ITEMS);
    let exclusions = Exclusions::parse(&order.exclude)?;
    let mut files = Vec::new();
    let mut seen = HashSet::new();
    for text in &order.files {
        match expand(text, base, &exclusions, max_files, budget)? {
            Ok(paths) => {
                let fresh = paths.into_iter().filter(|path| seen.insert(path.clone()));
                files.extend(fresh.map(Ok).collect::<Vec<_>>());
            }
            Err(fault) => files.push(Err((text.clone(), fault))),
        }
        if files.len() > max_files {
            return Err(too_many(max_files));
        }
    }
    Ok(files)
}

/// None when the file was edited before, by whatever path.
fn one(
    text: &str,
    base: &Base,
    edit: &mut Edit<'_>,
    met: &mut HashSet<(u64, u64, Vec<u8>)>,
) -> Result<Option<Edited>, Fault> {
    let path = Path::parse("files", text, base)?;
    let (location, stat) = path.locate()?.follow(&path)?;
    let stat = stat.ok_or_else(|| path.fault(rustix::io::Errno::NOENT))?;
    let folder = rustix::fs::fstat(&location.folder).map_err(|errno| path.fault(errno))?;
    let entry = (
        folder.st_dev,
        folder.st_ino,
        location.name.to_bytes().to_vec(),
    );
    if !met.insert(entry) {
        return Ok(None);
    }
    require_regular(&path, &stat)?;
    edit.apply(&path, location, stat).map(Some)
}

fn row(edited: Result<(String, u64), (String, Fault)>, is_over: bool) -> Row {
    match edited {
        Ok((path, replacements)) => Row {
            path,
            status: "success",
            replacements,
            error: None,
        },
        Err((path, fault)) => Row {
            path,
            status: "error",
            replacements: 0,
            error: Some(match fault.code {
                Code::Timeout if is_over => {
                    "The time for all files ran out before this one; it is unchanged.".to_owned()
                }
                Code::Timeout => format!("{} The file is unchanged.", fault.detail),
                // A row has no field for a hint, so the detail has it.
                Code::ResourceExhausted if fault.detail.contains("disk is full") => {
                    format!("{} Delete files, or give it a larger disk.", fault.detail)
                }
                _ => fault.detail,
            }),
        },
    }
}
