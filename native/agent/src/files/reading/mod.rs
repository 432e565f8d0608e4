//! The content of files, by lines and by bytes.

pub mod lines;
pub mod regular;
pub mod stream;
