//! The names that folders hold, a page at a time.

pub mod find;
pub mod list;
pub mod page;
mod query;
