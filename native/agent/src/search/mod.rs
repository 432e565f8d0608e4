//! Searching files for a pattern, and replacing it.

mod automaton;
mod backtrack;
mod blocks;
mod bounds;
mod bracket;
mod budget;
mod classes;
pub mod content;
mod edit;
mod ere;
mod excerpt;
mod exclude;
mod expand;
mod expression;
mod folder;
#[cfg(test)]
mod grep_rules;
mod matcher;
mod program;
pub mod replace;
mod required;
mod template;
mod walk;
