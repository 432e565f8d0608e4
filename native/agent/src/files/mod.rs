//! File operations. Every path is resolved here, inside the sandbox, by this process.

mod copy;
pub mod durable;
mod enclosure;
pub mod find;
pub mod glob;
pub mod lines;
pub mod list;
pub mod location;
pub mod mkdir;
pub mod owners;
pub mod page;
pub mod path_text;
mod query;
pub mod reach;
pub mod regular;
pub mod relocate;
pub mod remove;
pub mod stat;
pub mod stream;
mod temporary;
pub mod upload;
pub mod write;
