//! The form of an archive of a disk: POSIX tar, with an extended header before each entry for all that its
//! block cannot hold. GNU tar reads it. This agent reads only what it writes, and refuses anything else.

pub mod block;
pub mod damage;
pub mod entry;
pub mod holes;
pub mod reader;
pub mod records;
pub mod writer;
