//! The operation `search`: first which files match at all, by several workers, then the lines of one page of
//! them. Only as many paths are kept as the page's end needs.

use rustix::fs::{CWD, FileType, statat};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::blocks::{self, Blocks, Buffer, Next, Opened};
use super::bounds::{MAX_ITEMS, milliseconds};
use super::budget::Budget;
use super::excerpt::{self, Match, Wanted};
use super::folder::{self, Folder};
use super::matcher::{Matcher, Scratch};
use super::walk::{Visitor, Walk};
use crate::files::find::shown_prefix;
use crate::files::glob::Glob;
use crate::files::location::{Path, c_name, file_type};
use crate::files::page::Page;
use crate::files::path_text;
use crate::init::context::Context;
use crate::init::workers::Workers;
use crate::wire::connection::{Connection, Interrupted, Outcome};
use crate::wire::fault::Fault;

/// Of what is told of a page's files, as JSON; a page that would be larger ends early.
const PAGE_BYTES: usize = 6 << 20;

/// Ceilings, whatever the host asks for.
const MAX_CONTEXT: usize = 100;
const MAX_MATCHES: usize = 1_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
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
    output: Output,
}

struct Query {
    path: Path,
    matcher: Matcher,
    /// The same query as plain text, where that may mean something else.
    plain: Option<Matcher>,
    output: Output,
    file_pattern: Option<Glob>,
    context: usize,
    max_matches: usize,
    offset: usize,
    max_items: usize,
    time: Duration,
}

/// What the answer has of each file besides its path.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Output {
    #[default]
    Matches,
    Files,
    /// Of all its lines that match.
    Counts,
}

#[derive(Serialize)]
struct FileMatches {
    path: String,
    #[serde(flatten)]
    matches: Option<Matches>,
    #[serde(skip_serializing_if = "Option::is_none")]
    match_count: Option<u64>,
}

#[derive(Serialize)]
struct Matches {
    matches: Vec<Match>,
    capped: bool,
}

/// One page.
struct Found {
    files: Vec<FileMatches>,
    /// Of all files that match.
    total: usize,
    /// Where none does: files that have the query as plain text, if there are any.
    plain: Option<usize>,
}

pub async fn answer(connection: &mut Connection, context: &Context, request: Request) -> Outcome {
    let workers = &context.workers;
    let path = Path::parse("path", &request.path)?;
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

/// Where an expression finds nothing, its text is looked for, as far as there is time.
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
    let (paths, total) = walk(connection, workers, &query, &top, (false, page, deadline)).await?;
    if total == 0 && query.plain.is_some() {
        let nothing = Page::new(0, 0);
        let plain = walk(connection, workers, &query, &top, (true, nothing, deadline)).await;
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

/// The page of paths whose files match, and the count of all.
async fn walk(
    connection: &mut Connection,
    workers: &Workers,
    query: &Arc<Query>,
    top: &Arc<Top>,
    (plain, page, deadline): (bool, Page, Instant),
) -> Result<(Vec<String>, usize), Interrupted> {
    let page = Arc::new(Mutex::new(page));
    let work = {
        let (query, top, page) = (Arc::clone(query), Arc::clone(top), Arc::clone(&page));
        let walk = top.walk()?;
        workers.together(move |turn, cancelled| {
            let budget = Budget::new(
                cancelled,
                deadline.saturating_duration_since(Instant::now()),
            );
            let matcher = query.plain.as_ref().filter(|_| plain);
            let matcher = matcher.unwrap_or(&query.matcher);
            let mut searcher = Searcher::new(&query, matcher, &page, &budget);
            match (&walk, &top.file) {
                (Some(walk), _) => walk.work(turn, &budget, &mut searcher),
                (None, Some(name)) if turn.is_first() && searcher.wants(b"", name.to_bytes()) => {
                    match Folder::open(&top.folder, Vec::new(), None) {
                        Ok(folder) => searcher.file(&folder, name),
                        Err(_) => Ok(()),
                    }
                }
                (None, _) => Ok(()),
            }
        })
    };
    connection.unless_closed(work).await?;
    let mut page = page.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(std::mem::replace(&mut *page, Page::new(0, 0)).finish())
}

/// Where the search begins: a folder, or one file in a folder.
struct Top {
    folder: OwnedFd,
    file: Option<CString>,
    /// What stands before the paths below the folder.
    shown: Vec<u8>,
}

impl Top {
    fn open(path: &Path) -> Result<Self, Fault> {
        let stat = statat(CWD, path.bytes.as_slice(), rustix::fs::AtFlags::empty())
            .map_err(|errno| path.fault(errno))?;
        match file_type(&stat) {
            FileType::Directory => Ok(Self {
                folder: folder::open_top(&path.bytes).map_err(|errno| path.fault(errno))?,
                file: None,
                shown: shown_prefix(&path.bytes),
            }),
            FileType::RegularFile => {
                let shown = shown_prefix(path.split()?.0);
                let (_, name) = path.split()?;
                let shown = [&shown, name].concat();
                let (location, _) = path.locate()?.follow(path)?;
                Ok(Self {
                    folder: folder::open_below(&location.folder, b"")
                        .map_err(|errno| path.fault(errno))?,
                    file: Some(location.name),
                    shown,
                })
            }
            _ => Err(Fault::invalid(
                path.parameter,
                format!("'{}' is no folder and no regular file.", path.text),
            )),
        }
    }

    fn walk(&self) -> Result<Option<Walk>, Fault> {
        match self.file {
            Some(_) => Ok(None),
            None => Ok(Some(Walk::new(self.folder.try_clone()?))),
        }
    }
}

/// One worker's means to tell which files match.
struct Searcher<'a> {
    query: &'a Query,
    matcher: &'a Matcher,
    page: &'a Mutex<Page>,
    budget: &'a Budget,
    scratch: Scratch,
    buffer: Buffer,
}

impl<'a> Searcher<'a> {
    fn new(
        query: &'a Query,
        matcher: &'a Matcher,
        page: &'a Mutex<Page>,
        budget: &'a Budget,
    ) -> Self {
        Self {
            query,
            matcher,
            page,
            budget,
            scratch: matcher.scratch(),
            buffer: Buffer::default(),
        }
    }

    fn matches(&mut self, file: Opened) -> Result<bool, Fault> {
        let mut blocks = Blocks::new(file, &mut self.buffer);
        loop {
            match blocks.next() {
                Next::Block => {
                    let matcher = self.matcher;
                    if matcher.is_match(&mut self.scratch, blocks.block(), self.budget)? {
                        return blocks.rest_is_text(self.budget);
                    }
                }
                Next::End | Next::Unfit => return Ok(false),
            }
            self.budget.check()?;
        }
    }
}

impl Visitor for Searcher<'_> {
    fn wants(&self, below: &[u8], name: &[u8]) -> bool {
        self.query.file_pattern.as_ref().is_none_or(|pattern| {
            let subject = if pattern.of_path {
                path_text::to_text(&folder::join(below, name))
            } else {
                path_text::to_text(name)
            };
            pattern.matches(&subject)
        })
    }

    fn file(&mut self, folder: &Folder, name: &CStr) -> Result<(), Fault> {
        let opened = match folder.system.is_made_up {
            true => blocks::open(&folder.open, name),
            false => blocks::open_listed(&folder.open, name).map(|file| (file, None)),
        };
        let Some(file) = opened else {
            return Ok(());
        };
        if self.matches(file)? {
            let path = path_text::to_text(&folder::join(&folder.below, name.to_bytes()));
            let mut page = self.page.lock().unwrap_or_else(PoisonError::into_inner);
            page.offer(path);
        }
        Ok(())
    }
}

/// A file that has gone or changed since it matched is no longer counted.
fn excerpts(
    query: &Query,
    top: &Top,
    paths: Vec<String>,
    total: usize,
    budget: &Budget,
) -> Result<(Vec<FileMatches>, usize), Fault> {
    let mut scratch = query.matcher.scratch();
    let mut buffer = Buffer::default();
    let wanted = Wanted {
        context: query.context,
        max_matches: query.max_matches,
    };
    let (mut found, mut total, mut bytes) = (Vec::new(), total, 0);
    for text in paths {
        let path = path_text::to_bytes(&text);
        let shown = match &top.file {
            Some(_) => top.shown.clone(),
            None => [&top.shown[..], &path].concat(),
        };
        let mut file = FileMatches {
            path: path_text::to_text(&shown),
            matches: None,
            match_count: None,
        };
        if query.output != Output::Files {
            let Some(opened) = open(top, &path)? else {
                total -= 1;
                continue;
            };
            let blocks = Blocks::new(opened, &mut buffer);
            let matcher = &query.matcher;
            if query.output == Output::Counts {
                file.match_count = excerpt::count(blocks, matcher, &mut scratch, budget)?;
            } else {
                let excerpt = excerpt::excerpt(blocks, matcher, &mut scratch, &wanted, budget)?;
                file.match_count = excerpt.as_ref().map(|found| found.matches.len() as u64);
                file.matches = excerpt.map(|excerpt| Matches {
                    matches: excerpt.matches,
                    capped: excerpt.capped,
                });
            }
            if file.match_count.is_none() {
                total -= 1;
                continue;
            }
        }
        bytes += serde_json::to_vec(&file).map_or(0, |json| json.len());
        if bytes > PAGE_BYTES && !found.is_empty() {
            break;
        }
        found.push(file);
    }
    Ok((found, total))
}

fn open(top: &Top, path: &[u8]) -> Result<Option<Opened>, Fault> {
    let (below, name) = match path.iter().rposition(|&byte| byte == b'/') {
        Some(slash) => (&path[..slash], &path[slash + 1..]),
        None => (&b""[..], path),
    };
    let name = c_name(name)?;
    Ok(folder::open_below(&top.folder, below)
        .ok()
        .and_then(|folder| blocks::open(folder, &name)))
}
