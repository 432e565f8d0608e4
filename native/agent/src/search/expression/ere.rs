//! Reads a query as `grep -E` does, GNU's flavour, with `\d` and `\D` besides. What grep refuses is refused here.
//!
//! GNU's two matchers differ about operators at the start of an expression: this follows the one that decides about
//! lines without back-references. Ranges are by code point, also where a locale has no order.

use std::sync::Arc;

use super::bracket;
use super::classes;
use super::syntax::{Expression, Look, Node, Refusal, one_of};

/// GNU's own bound.
const MAX_REPETITIONS: u32 = 32_767;
/// Later steps recurse to this depth, on a worker's small stack.
const MAX_DEPTH: usize = 40;
const MAX_CHAINED_OPERATORS: usize = 4;

/// Each line of the query is an alternative, with groups of its own.
pub fn parse(query: &str) -> Result<Expression, Refusal> {
    let mut groups = 0;
    let mut has_backreferences = false;
    let mut alternatives = Vec::new();
    for line in query.split('\n') {
        let mut parser = Parser {
            rest: line.chars().collect(),
            at: 0,
            first_group: groups,
            groups,
            complete: 0,
            depth: 0,
            has_backreferences,
        };
        alternatives.push(parser.alternatives()?);
        groups = parser.groups;
        has_backreferences = parser.has_backreferences;
    }
    Ok(Expression {
        node: one_of(alternatives),
        groups,
        has_backreferences,
    })
}

struct Parser {
    rest: Vec<char>,
    at: usize,
    /// Number of groups in earlier lines.
    first_group: usize,
    groups: usize,
    /// Bit n: group n of this line is closed, in this alternative.
    complete: u16,
    depth: usize,
    has_backreferences: bool,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn alternatives(&mut self) -> Result<Node, Refusal> {
        let before = self.complete;
        let mut after = before;
        let mut branches = Vec::new();
        loop {
            self.complete = before;
            branches.push(self.branch()?);
            after |= self.complete;
            if self.peek() != Some('|') {
                break;
            }
            self.at += 1;
        }
        self.complete = after;
        Ok(one_of(branches))
    }

    fn branch(&mut self) -> Result<Node, Refusal> {
        let mut parts = Vec::new();
        while let Some(next) = self.peek() {
            if next == '|' || (next == ')' && self.depth > 0) {
                break;
            }
            let atom = self.atom()?;
            parts.push(self.repeated(atom)?);
        }
        Ok(match parts.len() {
            0 => Node::Empty,
            1 => parts.pop().unwrap_or(Node::Empty),
            _ => Node::Sequence(parts),
        })
    }

    /// An operator in place of an atom repeats an empty atom.
    fn atom(&mut self) -> Result<Node, Refusal> {
        let Some(next) = self.peek() else {
            return Ok(Node::Empty);
        };
        if matches!(next, '*' | '+' | '?')
            || (next == '{' && matches!(self.interval(), Ok(Some(_))))
        {
            return Ok(Node::Empty);
        }
        self.at += 1;
        Ok(match next {
            '(' => self.group()?,
            '[' => {
                let (set, length) = bracket::parse(&self.rest[self.at..])?;
                self.at += length;
                Node::Set(Arc::new(set))
            }
            '.' => Node::Set(classes::any()),
            '^' => Node::Look(Look::LineStart),
            '$' => Node::Look(Look::LineEnd),
            '\\' => self.escape()?,
            // A closing parenthesis without an opening one too.
            other => Node::Char(other),
        })
    }

    fn group(&mut self) -> Result<Node, Refusal> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Refusal::TooDeep);
        }
        self.groups += 1;
        let group = self.groups;
        if matches!(self.peek(), Some('*' | '+' | '?')) && self.rest.get(self.at + 1) == Some(&')')
        {
            return Err(Refusal::Malformed);
        }
        let node = self.alternatives()?;
        if self.peek() != Some(')') {
            return Err(Refusal::Malformed);
        }
        self.at += 1;
        self.depth -= 1;
        let number = group - self.first_group;
        if number <= 9 {
            self.complete |= 1 << number;
        }
        Ok(Node::Group(group, Box::new(node)))
    }

    fn escape(&mut self) -> Result<Node, Refusal> {
        let escaped = self.peek().ok_or(Refusal::Malformed)?;
        self.at += 1;
        Ok(match escaped {
            '1'..='9' => {
                let number = escaped as usize - '0' as usize;
                if self.complete & (1 << number) == 0 {
                    return Err(Refusal::Malformed);
                }
                self.has_backreferences = true;
                Node::Backreference(self.first_group + number)
            }
            'w' => Node::Set(classes::word()),
            'W' => Node::Set(classes::outside(&classes::word())),
            's' => Node::Set(classes::space()),
            'S' => Node::Set(classes::outside(&classes::space())),
            'd' => Node::Set(classes::digit()),
            'D' => Node::Set(classes::outside(&classes::digit())),
            'b' => Node::Look(Look::WordBoundary),
            'B' => Node::Look(Look::NotWordBoundary),
            '<' => Node::Look(Look::WordStart),
            '>' => Node::Look(Look::WordEnd),
            '`' => Node::Look(Look::LineStart),
            '\'' => Node::Look(Look::LineEnd),
            other => Node::Char(other),
        })
    }

    /// `atom` with the operators that follow it.
    fn repeated(&mut self, atom: Node) -> Result<Node, Refusal> {
        let mut node = atom;
        let mut chained = 0;
        loop {
            let (min, max) = match self.peek() {
                Some('*') => (0, None),
                Some('+') => (1, None),
                Some('?') => (0, Some(1)),
                Some('{') => match self.interval()? {
                    Some((min, max, length)) => {
                        self.at += length - 1;
                        (min, max)
                    }
                    None => return Ok(node),
                },
                _ => return Ok(node),
            };
            self.at += 1;
            node = match node {
                Node::Empty => Node::Empty,
                Node::Look(look) if !matches!(look, Look::LineStart | Look::LineEnd) => {
                    Node::Look(look)
                }
                Node::Repeat {
                    node,
                    min: 0,
                    max: None,
                } if (min, max) == (0, None) => Node::Repeat { node, min, max },
                node => {
                    chained += 1;
                    if chained > MAX_CHAINED_OPERATORS {
                        return Err(Refusal::TooDeep);
                    }
                    Node::Repeat {
                        node: Box::new(node),
                        min,
                        max,
                    }
                }
            };
        }
    }

    /// The bounds and the length of the interval that begins here; None when the brace is an ordinary one.
    fn interval(&self) -> Result<Option<(u32, Option<u32>, usize)>, Refusal> {
        let (min, mut end) = self.number(self.at + 1);
        let mut max = min;
        if self.rest.get(end) == Some(&',') {
            (max, end) = self.number(end + 1);
        } else if min.is_none() {
            return match self.rest.get(end) {
                Some('}') => Err(Refusal::Malformed),
                _ => Ok(None),
            };
        }
        if self.rest.get(end) != Some(&'}') {
            return Ok(None);
        }
        let min = min.unwrap_or(0);
        if min > MAX_REPETITIONS || max.is_some_and(|max| max < min || max > MAX_REPETITIONS) {
            return Err(Refusal::Malformed);
        }
        Ok(Some((min, max, end + 1 - self.at)))
    }
    /// The number that begins at `at`, if any, and where it ends.
    fn number(&self, at: usize) -> (Option<u32>, usize) {
        let mut end = at;
        let mut value = 0u32;
        while let Some(digit) = self.rest.get(end).and_then(|next| next.to_digit(10)) {
            value = value.saturating_mul(10).saturating_add(digit);
            end += 1;
        }
        ((end > at).then_some(value), end)
    }
}
