//! Expressions as ripgrep's engine takes them: linear in time, whatever the expression.

use regex_automata::meta::{Config, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_syntax::hir::{self, Hir};

use super::classes;
use super::syntax::{Look, Node};

/// Size of the compiled expression, which bounds the time of a step, and memory.
const MAX_COMPILED_BYTES: usize = 4 << 20;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Reports all groups.
    Exact,
    /// Finds every line that matches, and perhaps more: leaves out constructs that slow the engine down or
    /// that it lacks.
    Candidates,
}

/// None when it is too large.
pub fn build(node: &Node, purpose: Purpose) -> Option<Regex> {
    let captures = match purpose {
        Purpose::Exact => WhichCaptures::All,
        Purpose::Candidates => WhichCaptures::Implicit,
    };
    let config = Config::new()
        .utf8_empty(false)
        .which_captures(captures)
        .nfa_size_limit(Some(MAX_COMPILED_BYTES));
    Regex::builder()
        .configure(config)
        .build_from_hir(&translate(node, purpose))
        .ok()
}

/// True where the two purposes differ for this expression.
pub fn needs_candidates(node: &Node) -> bool {
    node.has(&|node| match node {
        Node::Backreference(_) => true,
        Node::Look(look) => *look != Look::LineStart,
        _ => false,
    })
}

fn translate(node: &Node, purpose: Purpose) -> Hir {
    let all = |nodes: &[Node]| nodes.iter().map(|node| translate(node, purpose)).collect();
    match node {
        Node::Empty => Hir::empty(),
        Node::Char(character) => {
            Hir::literal(character.encode_utf8(&mut [0; 4]).as_bytes().to_vec())
        }
        Node::Set(set) => Hir::class(hir::Class::Unicode((**set).clone())),
        Node::Look(look) => match (look, purpose) {
            (Look::LineStart, _) => Hir::look(hir::Look::StartLF),
            (Look::LineEnd, Purpose::Exact) => Hir::look(hir::Look::EndLF),
            // Before each `\r`, too.
            (Look::LineEnd, Purpose::Candidates) => Hir::alternation(vec![
                Hir::look(hir::Look::EndLF),
                Hir::look(hir::Look::EndCRLF),
            ]),
            (_, Purpose::Candidates) => Hir::empty(),
            (Look::WordBoundary, _) => Hir::look(hir::Look::WordUnicode),
            (Look::NotWordBoundary, _) => Hir::look(hir::Look::WordUnicodeNegate),
            (Look::WordStart, _) => Hir::look(hir::Look::WordStartUnicode),
            (Look::WordEnd, _) => Hir::look(hir::Look::WordEndUnicode),
        },
        Node::Group(_, node) if purpose == Purpose::Candidates => translate(node, purpose),
        Node::Group(index, node) => Hir::capture(hir::Capture {
            index: u32::try_from(*index).unwrap_or(u32::MAX),
            name: None,
            sub: Box::new(translate(node, purpose)),
        }),
        Node::Backreference(_) => repetition(
            Hir::class(hir::Class::Unicode((*classes::any()).clone())),
            0,
            None,
        ),
        Node::Sequence(nodes) => Hir::concat(all(nodes)),
        Node::Alternatives(nodes) => Hir::alternation(all(nodes)),
        Node::Repeat { node, min, max } => repetition(translate(node, purpose), *min, *max),
    }
}

fn repetition(sub: Hir, min: u32, max: Option<u32>) -> Hir {
    Hir::repetition(hir::Repetition {
        min,
        max,
        greedy: true,
        sub: Box::new(sub),
    })
}
