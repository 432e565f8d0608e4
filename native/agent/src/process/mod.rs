//! Programs that run while the host talks with them, with or without a terminal.

pub mod conversation;
mod input;
pub mod open;
mod outputs;
mod signals;
pub mod start;
