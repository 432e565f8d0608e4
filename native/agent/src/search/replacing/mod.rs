//! Replaces matches in files.

mod edit;
mod exclude;
mod expand;
pub mod replace;
mod template;
