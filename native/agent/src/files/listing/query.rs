//! The request of `list` and `find`: a folder, a pattern and a page.

use serde::Deserialize;

use super::page::Page;

/// Most items of one page, whatever the host asks for.
const MAX_ITEMS: usize = 10_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    pub v: u32,
    pub user: Option<String>,
    pub path: String,
    pub pattern: Option<String>,
    max_items: usize,
    offset: usize,
}

impl Query {
    pub fn page(&self) -> Page {
        Page::new(self.offset, self.max_items.min(MAX_ITEMS))
    }
}
