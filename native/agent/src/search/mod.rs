//! Searching files for a pattern, and replacing it.

mod blocks;
mod bounds;
mod budget;
pub mod content;
mod expression;
pub mod replacing;
