//! The disk's tree of files, packed into an archive and unpacked from one.

mod content;
mod finish;
mod level;
mod links;
pub mod packer;
mod room;
#[cfg(test)]
mod tests;
pub mod unpacker;
pub mod xattrs;

/// Levels of folders. Both directions hold a descriptor for each that is open.
const MOST_LEVELS: usize = 900;
