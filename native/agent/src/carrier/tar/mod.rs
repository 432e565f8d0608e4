//! The form of an archive of a disk: POSIX tar, where an extended header before each entry has all that its block cannot
//! say. GNU tar reads it. What this agent reads is what it writes; anything else is refused.

pub mod block;
pub mod damage;
pub mod entry;
pub mod holes;
pub mod reader;
pub mod records;
pub mod writer;
