//! All that a file system knows of entries, read and set: kind, size, mode, owners, times, targets, metadata.

pub mod entries;
pub mod metadata;
pub mod set;
