//! The first pass of a search: finds the files that match. Several workers search, and only the paths up to
//! the page's end are kept.

use std::ffi::CStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::query::Query;
use super::top::Top;
use super::walk::Visitor;
use crate::files::folder::{self, Folder};
use crate::files::listing::page::Page;
use crate::files::path_text;
use crate::init::workers::Workers;
use crate::search::blocks::{self, Blocks, Buffer, Next, Opened};
use crate::search::budget::Budget;
use crate::search::expression::matcher::{Matcher, Scratch};
use crate::wire::connection::{Connection, Interrupted};
use crate::wire::fault::Fault;

/// The page of paths whose files match, and the count of all.
pub async fn scan(
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

/// One worker's part of the pass.
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
