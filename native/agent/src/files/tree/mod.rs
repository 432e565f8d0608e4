//! Entries with all that is below them: moved, copied, deleted.

mod copy;
pub mod relocate;
pub mod remove;
