//! Users and groups in the sandbox's own files.

pub mod database;
pub mod names;
