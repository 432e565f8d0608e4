//! Moves, copies and deletes entries with all below them.

mod copy;
pub mod relocate;
pub mod remove;
