//! A parsed search, and the form of its answer.

use serde::Deserialize;
use std::time::Duration;

use crate::files::glob::Glob;
use crate::files::location::Path;
use crate::search::expression::matcher::Matcher;

pub struct Query {
    pub path: Path,
    pub matcher: Matcher,
    /// The query as plain text, where that may have another meaning.
    pub plain: Option<Matcher>,
    pub output: Output,
    pub file_pattern: Option<Glob>,
    pub context: usize,
    pub max_matches: usize,
    pub offset: usize,
    pub max_items: usize,
    pub time: Duration,
}

/// The part of the answer that each file has besides its path.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    #[default]
    Matches,
    Files,
    /// The number of all its matching lines.
    Counts,
}
