//! The lines of files that match.

mod excerpt;
mod page;
mod query;
mod scan;
pub mod search;
mod top;
mod walk;
