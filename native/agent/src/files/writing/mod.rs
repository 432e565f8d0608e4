//! New files and folders, and new content: whole or not at all, also after a power cut.

pub mod durable;
mod enclosure;
pub mod mkdir;
pub mod temporary;
pub mod upload;
pub mod write;
