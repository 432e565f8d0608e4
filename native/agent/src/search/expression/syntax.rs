//! The meaning of a query, as a tree.

use regex_syntax::hir::ClassUnicode;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    LineStart,
    LineEnd,
    WordBoundary,
    NotWordBoundary,
    WordStart,
    WordEnd,
}

#[derive(Clone, Debug)]
pub enum Node {
    Empty,
    Char(char),
    /// Never has the newline: lines are matched one by one.
    Set(Arc<ClassUnicode>),
    Look(Look),
    /// Numbered from 1 by their opening.
    Group(usize, Box<Node>),
    /// To a group that is complete before it.
    Backreference(usize),
    Sequence(Vec<Node>),
    Alternatives(Vec<Node>),
    Repeat {
        node: Box<Node>,
        min: u32,
        max: Option<u32>,
    },
}

impl Node {
    /// True where this node, or one below it, is of this kind.
    pub fn has(&self, is: &impl Fn(&Node) -> bool) -> bool {
        is(self)
            || match self {
                Node::Group(_, node) | Node::Repeat { node, .. } => node.has(is),
                Node::Sequence(nodes) | Node::Alternatives(nodes) => {
                    nodes.iter().any(|node| node.has(is))
                }
                _ => false,
            }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Not an expression for grep either.
    Malformed,
    /// An expression that is too deep for this program.
    TooDeep,
}

pub struct Expression {
    pub node: Node,
    pub groups: usize,
    pub has_backreferences: bool,
}

/// An expression of the text itself, with each line as an alternative.
pub fn literal(text: &str) -> Expression {
    let line = |line: &str| Node::Sequence(line.chars().map(Node::Char).collect());
    Expression {
        node: one_of(text.split('\n').map(line).collect()),
        groups: 0,
        has_backreferences: false,
    }
}

pub fn one_of(mut nodes: Vec<Node>) -> Node {
    match nodes.len() {
        1 => nodes.pop().unwrap_or(Node::Empty),
        _ => Node::Alternatives(nodes),
    }
}
