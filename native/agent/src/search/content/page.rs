//! The second pass of a search: the lines of one page of the files that match.

use serde::Serialize;

use super::excerpt::{self, Match, Wanted};
use super::query::{Output, Query};
use super::top::Top;
use crate::files::folder;
use crate::files::location::c_name;
use crate::files::path_text;
use crate::search::blocks::{self, Blocks, Buffer, Opened};
use crate::search::budget::Budget;
use crate::wire::fault::Fault;

/// Most bytes of JSON for a page's files; a larger page ends early.
const PAGE_BYTES: usize = 6 << 20;

#[derive(Serialize)]
pub struct FileMatches {
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

/// A file that has gone or changed since it matched is no longer counted.
pub fn excerpts(
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
