//! File operations. Every path is resolved here, inside the sandbox, by this process.

pub mod details;
pub mod folder;
pub mod glob;
pub mod listing;
pub mod location;
pub mod path_text;
pub mod reach;
pub mod reading;
pub mod stat;
pub mod tree;
pub mod watching;
pub mod writing;
