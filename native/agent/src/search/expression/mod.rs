//! Queries as `grep -E` reads them, and the matchers that find them in lines.

mod automaton;
pub mod backtrack;
mod bracket;
mod classes;
mod ere;
#[cfg(test)]
mod grep_rules;
pub mod matcher;
mod program;
mod required;
mod syntax;
