//! A query, ready to be found in lines. No part of an expression matches a newline, so the engine runs over
//! many lines at once, and each match still lies in one line.
//!
//! An expression that names the end of a line finds it before the `\r` of a line that ends with `\r\n`, too.

use memchr::memmem::Finder;
use memchr::{memchr, memrchr};
use regex_automata::Input;
use regex_automata::meta::{Cache, Regex};
use regex_automata::util::primitives::NonMaxUsize;
use std::ops::Range;

use super::automaton::{self, Purpose};
use super::backtrack;
use super::ere;
use super::program::{self, Program};
use super::required::required_text;
use super::syntax::{self, Expression, Look, Node, Refusal};
use crate::search::budget::Budget;
use crate::wire::fault::Fault;

/// Characters that give an expression another meaning than its text.
const SPECIAL: [char; 14] = [
    '\\', '.', '[', ']', '(', ')', '{', '}', '*', '+', '?', '^', '$', '|',
];

/// In characters. The host's own bound is lower.
const MAX_QUERY_CHARS: usize = 16_384;

pub struct Matcher {
    /// Lines without it do not match.
    required: Option<Finder<'static>>,
    candidates: Regex,
    exact: Exact,
    names_line_end: bool,
    pub groups: usize,
    /// True where the query is not an expression, and was taken as plain text.
    pub literal: bool,
}

enum Exact {
    /// Every candidate is a match; this expression reports its groups.
    Same(Regex),
    Regex(Regex),
    Backtracking(Program),
}

/// Memory that one thread needs to match.
pub struct Scratch {
    candidates: Cache,
    exact: Option<Cache>,
    ways: backtrack::Memory,
    slots: Vec<Option<NonMaxUsize>>,
}

/// A line with a match, without its newline, and where the match begins.
pub struct Found {
    pub line: Range<usize>,
    pub start: usize,
}

impl Matcher {
    /// @param parameter The caller's name of the query.
    pub fn new(query: &str, parameter: &'static str) -> Result<Self, Fault> {
        let too_large = || {
            Fault::invalid(parameter, "The expression is too large or too deep.")
                .hint("Search for a part of it, or repeat less of it.")
        };
        if query.len() > MAX_QUERY_CHARS {
            return Err(too_large());
        }
        match ere::parse(query) {
            Ok(expression) => Self::of(&expression, false).ok_or_else(too_large),
            Err(Refusal::Malformed) => Self::plain(query, parameter),
            Err(Refusal::TooDeep) => Err(too_large()),
        }
    }

    /// Finds the text literally.
    pub fn plain(text: &str, parameter: &'static str) -> Result<Self, Fault> {
        let too_large = || Fault::invalid(parameter, "The text is too long to be searched for.");
        if text.len() > MAX_QUERY_CHARS {
            return Err(too_large());
        }
        Self::of(&syntax::literal(text), true).ok_or_else(too_large)
    }

    /// Reads the query as plain text or as an expression, as the caller asks.
    pub fn read(query: &str, parameter: &'static str, literal: bool) -> Result<Self, Fault> {
        match literal {
            true => Self::plain(query, parameter),
            false => Self::new(query, parameter),
        }
    }

    /// Finds the query's text, where this matcher reads it as an expression with perhaps another meaning.
    pub fn plain_reading(&self, query: &str) -> Option<Self> {
        if self.literal || !query.contains(SPECIAL) {
            return None;
        }
        Self::plain(query, "query").ok()
    }

    fn of(expression: &Expression, literal: bool) -> Option<Self> {
        let node = &expression.node;
        let candidates = automaton::build(node, Purpose::Candidates)?;
        let exact = if expression.has_backreferences {
            Exact::Backtracking(program::compile(node, expression.groups).ok()?)
        } else {
            let regex = automaton::build(node, Purpose::Exact)?;
            match automaton::needs_candidates(node) {
                true => Exact::Regex(regex),
                false => Exact::Same(regex),
            }
        };
        Some(Self {
            required: required_text(node).map(|text| Finder::new(&text).into_owned()),
            candidates,
            exact,
            names_line_end: node.has(&|node| matches!(node, Node::Look(Look::LineEnd))),
            groups: expression.groups,
            literal,
        })
    }

    pub fn scratch(&self) -> Scratch {
        Scratch {
            candidates: self.candidates.create_cache(),
            exact: match &self.exact {
                Exact::Same(regex) | Exact::Regex(regex) => Some(regex.create_cache()),
                Exact::Backtracking(_) => None,
            },
            ways: backtrack::Memory::default(),
            slots: Vec::new(),
        }
    }

    /// True where any line of `lines` matches.
    pub fn is_match(
        &self,
        scratch: &mut Scratch,
        lines: &[u8],
        budget: &Budget,
    ) -> Result<bool, Fault> {
        let Some(body) = body(lines) else {
            return Ok(false);
        };
        if let (Exact::Same(_), None) = (&self.exact, &self.required) {
            let input = Input::new(body).earliest(true);
            return Ok(self
                .candidates
                .search_half_with(&mut scratch.candidates, &input)
                .is_some());
        }
        Ok(self.next_line(scratch, lines, 0, budget)?.is_some())
    }

    /// The first line at `from`, which begins a line, or later that matches.
    pub fn next_line(
        &self,
        scratch: &mut Scratch,
        lines: &[u8],
        from: usize,
        budget: &Budget,
    ) -> Result<Option<Found>, Fault> {
        let Some(body) = body(lines) else {
            return Ok(None);
        };
        let mut from = from;
        while from <= body.len() {
            let within = match &self.required {
                None => from..body.len(),
                Some(required) => match required.find(&body[from..]) {
                    Some(position) => line_around(body, from + position),
                    None => return Ok(None),
                },
            };
            let next = within.end + 1;
            let input = Input::new(body).range(within);
            let candidate = self.candidates.search_with(&mut scratch.candidates, &input);
            let Some(candidate) = candidate else {
                if self.required.is_none() {
                    return Ok(None);
                }
                budget.check()?;
                from = next;
                continue;
            };
            let line = line_around(body, candidate.start());
            if let Exact::Same(_) = self.exact {
                let start = candidate.start();
                return Ok(Some(Found { line, start }));
            }
            let mut slots = [None; 2];
            if self.find(scratch, &body[line.clone()], 0, &mut slots, budget)? {
                let start = line.start + slots[0].unwrap_or(0);
                return Ok(Some(Found { line, start }));
            }
            budget.check()?;
            from = line.end + 1;
        }
        Ok(None)
    }

    /// Finds the first match in `line` at `from` or later. Reports as many groups as there are slots.
    pub fn find(
        &self,
        scratch: &mut Scratch,
        line: &[u8],
        from: usize,
        slots: &mut [Option<usize>],
        budget: &Budget,
    ) -> Result<bool, Fault> {
        let found = self.find_in(scratch, line, from, slots, budget)?;
        let [before @ .., b'\r'] = line else {
            return Ok(found);
        };
        if !self.names_line_end || from > before.len() {
            return Ok(found);
        }
        let mut earlier = vec![None; slots.len()];
        if !self.find_in(scratch, before, from, &mut earlier, budget)?
            || (found && slots[0] <= earlier[0])
        {
            return Ok(found);
        }
        slots.copy_from_slice(&earlier);
        Ok(true)
    }

    fn find_in(
        &self,
        scratch: &mut Scratch,
        line: &[u8],
        from: usize,
        slots: &mut [Option<usize>],
        budget: &Budget,
    ) -> Result<bool, Fault> {
        let regex = match &self.exact {
            Exact::Same(regex) | Exact::Regex(regex) => regex,
            Exact::Backtracking(program) => {
                return backtrack::search(program, &mut scratch.ways, line, from, slots, budget);
            }
        };
        let Some(cache) = &mut scratch.exact else {
            return Ok(false);
        };
        let input = Input::new(line).range(from..);
        scratch.slots.clear();
        scratch.slots.resize(slots.len(), None);
        if regex
            .search_slots_with(cache, &input, &mut scratch.slots)
            .is_none()
        {
            return Ok(false);
        }
        for (slot, found) in slots.iter_mut().zip(&scratch.slots) {
            *slot = found.map(NonMaxUsize::get);
        }
        Ok(true)
    }
}

/// Without the last newline, behind which no line begins; None when there is no line.
fn body(lines: &[u8]) -> Option<&[u8]> {
    match lines {
        [] => None,
        [body @ .., b'\n'] => Some(body),
        body => Some(body),
    }
}

fn line_around(body: &[u8], position: usize) -> Range<usize> {
    let start = memrchr(b'\n', &body[..position]).map_or(0, |newline| newline + 1);
    let end = memchr(b'\n', &body[position..]).map_or(body.len(), |newline| position + newline);
    start..end
}
