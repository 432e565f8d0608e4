//! The lines of one file that match, with the lines around them, cut to a length that can be read.

use memchr::{memchr, memchr_iter, memrchr};
use serde::Serialize;

use crate::search::blocks::{Blocks, Next};
use crate::search::budget::Budget;
use crate::search::expression::backtrack::char_at;
use crate::search::expression::matcher::{Matcher, Scratch};
use crate::wire::fault::Fault;

/// Characters shown of a line, without the marks of a cut.
const LINE_CHARS: usize = 400;
/// Those of them that may stand before the match.
const LEAD_CHARS: usize = 120;
const CUT: char = '…';
/// Counted lines between two checks of the time.
const CHECK_EVERY: u64 = 4_096;

#[derive(Serialize)]
pub struct Match {
    line: u64,
    text: String,
    before: Vec<String>,
    after: Vec<String>,
}

pub struct Excerpt {
    pub matches: Vec<Match>,
    /// True when there are more matches.
    pub capped: bool,
}

pub struct Wanted {
    pub context: usize,
    pub max_matches: usize,
}

/// None when the file is not text, or no line of it matches any more.
pub fn excerpt(
    mut blocks: Blocks<'_>,
    matcher: &Matcher,
    scratch: &mut Scratch,
    wanted: &Wanted,
    budget: &Budget,
) -> Result<Option<Excerpt>, Fault> {
    let mut reader = Reader {
        matches: Vec::new(),
        wanted,
        line: 1,
        tail: Vec::new(),
        capped: false,
    };
    loop {
        budget.check()?;
        match blocks.next() {
            Next::Block => reader.block(blocks.block(), matcher, scratch, budget)?,
            Next::End => break,
            Next::Unfit => return Ok(None),
        }
        if reader.is_done() {
            break;
        }
    }
    Ok((!reader.matches.is_empty()).then_some(Excerpt {
        matches: reader.matches,
        capped: reader.capped,
    }))
}

/// Counts all lines that match. None in the same cases as an excerpt.
pub fn count(
    mut blocks: Blocks<'_>,
    matcher: &Matcher,
    scratch: &mut Scratch,
    budget: &Budget,
) -> Result<Option<u64>, Fault> {
    let mut count = 0;
    // The block's first line is the rest of one that was counted.
    let mut is_counted = false;
    loop {
        budget.check()?;
        match blocks.next() {
            Next::Block => {}
            Next::End => return Ok((count > 0).then_some(count)),
            Next::Unfit => return Ok(None),
        }
        let block = blocks.block();
        let (mut from, mut last) = (0, None);
        while let Some(found) = matcher.next_line(scratch, block, from, budget)? {
            count += u64::from(!(is_counted && found.line.start == 0));
            from = found.line.end + 1;
            last = Some(found.line.end);
            if count.is_multiple_of(CHECK_EVERY) {
                budget.check()?;
            }
        }
        let goes_on = !block.ends_with(b"\n");
        let is_one_line = memchr(b'\n', block).is_none();
        is_counted = goes_on && (last == Some(block.len()) || (is_counted && is_one_line));
    }
}

struct Reader<'a> {
    matches: Vec<Match>,
    wanted: &'a Wanted,
    /// The number of the block's first line.
    line: u64,
    /// The last lines of the blocks before.
    tail: Vec<String>,
    capped: bool,
}

impl Reader<'_> {
    fn is_done(&self) -> bool {
        self.capped && self.lacking() == 0
    }

    /// Lines of context still missing after the last match.
    fn lacking(&self) -> usize {
        self.matches
            .last()
            .map_or(0, |last| self.wanted.context - last.after.len())
    }

    fn block(
        &mut self,
        block: &[u8],
        matcher: &Matcher,
        scratch: &mut Scratch,
        budget: &Budget,
    ) -> Result<(), Fault> {
        self.complete(block);
        let mut from = 0;
        let mut counted = 0;
        while !self.capped
            && let Some(found) = matcher.next_line(scratch, block, from, budget)?
        {
            self.line += newlines(&block[counted..found.line.start]);
            counted = found.line.start;
            from = found.line.end + 1;
            // A long line that comes in pieces is shown once.
            if self
                .matches
                .last()
                .is_some_and(|last| last.line == self.line)
            {
                continue;
            }
            if self.matches.len() >= self.wanted.max_matches {
                self.capped = true;
                break;
            }
            self.matches.push(Match {
                line: self.line,
                text: cut(&block[found.line.clone()], found.start - found.line.start),
                before: self.before(&block[..found.line.start]),
                after: lines(block.get(from..).unwrap_or_default())
                    .take(self.wanted.context)
                    .map(|line| cut(line, 0))
                    .collect(),
            });
        }
        self.line += newlines(&block[counted..]);
        self.tail = self.before(block);
        Ok(())
    }

    /// Adds missing lines of context to matches of earlier blocks.
    fn complete(&mut self, block: &[u8]) {
        let context = self.wanted.context;
        let ready = self.matches.iter().rev().take(context);
        let first = self.matches.len()
            - ready
                .take_while(|found| found.after.len() < context)
                .count();
        for found in &mut self.matches[first..] {
            let lacking = context - found.after.len();
            found
                .after
                .extend(lines(block).take(lacking).map(|line| cut(line, 0)));
        }
    }

    /// The last lines before a line, of this block and of those before.
    fn before(&self, mut block: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        while found.len() < self.wanted.context && !block.is_empty() {
            let body = block.strip_suffix(b"\n").unwrap_or(block);
            let start = memrchr(b'\n', body).map_or(0, |newline| newline + 1);
            found.push(cut(&body[start..], 0));
            block = &block[..start];
        }
        let missing = self.wanted.context - found.len();
        found.extend(self.tail.iter().rev().take(missing).cloned());
        found.reverse();
        found
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

fn lines(mut block: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        if block.is_empty() {
            return None;
        }
        let end = memchr(b'\n', block);
        let line = &block[..end.unwrap_or(block.len())];
        block = &block[end.map_or(block.len(), |end| end + 1)..];
        Some(line)
    })
}

/// Cuts a line to the part that is shown, around the byte `focus`. Bytes that are not UTF-8 become U+FFFD.
pub fn cut(line: &[u8], focus: usize) -> String {
    let whole = advance(line, 0, LINE_CHARS);
    if whole == line.len() {
        return String::from_utf8_lossy(line).into_owned();
    }
    let mut start = focus.min(line.len());
    for _ in 0..LEAD_CHARS {
        start = back(line, start);
    }
    let end = advance(line, start, LINE_CHARS);
    let mut text = String::new();
    if start > 0 {
        text.push(CUT);
    }
    text.push_str(&String::from_utf8_lossy(&line[start..end]));
    if end < line.len() {
        text.push(CUT);
    }
    text
}

fn advance(line: &[u8], from: usize, characters: usize) -> usize {
    let mut at = from;
    for _ in 0..characters {
        if at >= line.len() {
            break;
        }
        at += char_at(line, at).map_or(1, |(_, length)| length);
    }
    at
}

fn back(line: &[u8], at: usize) -> usize {
    let mut start = at.saturating_sub(1);
    while start > 0 && at - start < 4 && line.get(start).is_some_and(|byte| byte & 0xC0 == 0x80) {
        start -= 1;
    }
    start
}
