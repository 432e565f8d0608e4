//! An expression as a program for the backtracking matcher, which knows back-references.

use regex_syntax::hir::ClassUnicode;
use std::sync::Arc;

use super::syntax::{Look, Node};

/// Bounds memory, and with it the time of a repetition that is written out.
const MAX_INSTRUCTIONS: usize = 50_000;

pub enum Instruction {
    Char(char),
    Set(Arc<ClassUnicode>),
    /// As many characters of a set as follow, given back one by one.
    Many {
        set: Arc<ClassUnicode>,
        min: u32,
        max: Option<u32>,
    },
    Look(Look),
    Backreference(usize),
    /// Notes the position in a slot.
    Save(usize),
    /// Fails where nothing was consumed since the slot was saved, in an empty turn of a loop.
    Advanced(usize),
    /// Continues at the first target, and at the second when that fails.
    Split(usize, usize),
    Jump(usize),
    Match,
}

pub struct Program {
    pub instructions: Vec<Instruction>,
    pub slots: usize,
}

pub struct TooLarge;

/// Slots 2n and 2n + 1 are the bounds of group n; those behind them belong to loops.
pub fn compile(node: &Node, groups: usize) -> Result<Program, TooLarge> {
    let mut compiler = Compiler {
        out: Vec::new(),
        slots: 2 * (groups + 1),
    };
    compiler.push(Instruction::Save(0))?;
    compiler.node(node)?;
    compiler.push(Instruction::Save(1))?;
    compiler.push(Instruction::Match)?;
    Ok(Program {
        instructions: compiler.out,
        slots: compiler.slots,
    })
}

struct Compiler {
    out: Vec<Instruction>,
    slots: usize,
}

impl Compiler {
    fn push(&mut self, instruction: Instruction) -> Result<usize, TooLarge> {
        if self.out.len() >= MAX_INSTRUCTIONS {
            return Err(TooLarge);
        }
        self.out.push(instruction);
        Ok(self.out.len() - 1)
    }

    fn node(&mut self, node: &Node) -> Result<(), TooLarge> {
        match node {
            Node::Empty => {}
            Node::Char(character) => {
                self.push(Instruction::Char(*character))?;
            }
            Node::Set(set) => {
                self.push(Instruction::Set(Arc::clone(set)))?;
            }
            Node::Look(look) => {
                self.push(Instruction::Look(*look))?;
            }
            Node::Backreference(group) => {
                self.push(Instruction::Backreference(*group))?;
            }
            Node::Group(group, node) => {
                self.push(Instruction::Save(2 * group))?;
                self.node(node)?;
                self.push(Instruction::Save(2 * group + 1))?;
            }
            Node::Sequence(nodes) => {
                for node in nodes {
                    self.node(node)?;
                }
            }
            Node::Alternatives(nodes) => self.alternatives(nodes)?,
            Node::Repeat { node, min, max } => self.repeat(node, *min, *max)?,
        }
        Ok(())
    }

    fn alternatives(&mut self, nodes: &[Node]) -> Result<(), TooLarge> {
        let mut ends = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            if index + 1 == nodes.len() {
                self.node(node)?;
                break;
            }
            let split = self.push(Instruction::Split(0, 0))?;
            self.node(node)?;
            ends.push(self.push(Instruction::Jump(0))?);
            self.out[split] = Instruction::Split(split + 1, self.out.len());
        }
        for end in ends {
            self.out[end] = Instruction::Jump(self.out.len());
        }
        Ok(())
    }

    fn repeat(&mut self, node: &Node, min: u32, max: Option<u32>) -> Result<(), TooLarge> {
        let set = match node {
            Node::Set(set) => Some(Arc::clone(set)),
            Node::Char(character) => {
                let range = [(*character, *character)];
                Some(Arc::new(super::classes::of_ranges(&range)))
            }
            _ => None,
        };
        if let Some(set) = set {
            self.push(Instruction::Many { set, min, max })?;
            return Ok(());
        }
        for _ in 0..min {
            // An empty node writes nothing, and needs no second time.
            let before = self.out.len();
            self.node(node)?;
            if self.out.len() == before {
                return Ok(());
            }
        }
        match max {
            None => self.endless(node),
            Some(max) => {
                let mut splits = Vec::new();
                for _ in min..max {
                    splits.push(self.push(Instruction::Split(0, 0))?);
                    self.node(node)?;
                }
                for split in splits {
                    self.out[split] = Instruction::Split(split + 1, self.out.len());
                }
                Ok(())
            }
        }
    }

    fn endless(&mut self, node: &Node) -> Result<(), TooLarge> {
        let slot = self.slots;
        self.slots += 1;
        let split = self.push(Instruction::Split(0, 0))?;
        self.push(Instruction::Save(slot))?;
        self.node(node)?;
        self.push(Instruction::Advanced(slot))?;
        self.push(Instruction::Jump(split))?;
        self.out[split] = Instruction::Split(split + 1, self.out.len());
        Ok(())
    }
}
