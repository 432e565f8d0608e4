//! Writes files, folders and new content, completely or not at all, also across a power cut.

pub mod durable;
mod enclosure;
pub mod mkdir;
pub mod temporary;
pub mod upload;
pub mod whole;
pub mod write;
