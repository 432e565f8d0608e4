//! Programs that run while the host talks with them, with or without a terminal.

pub mod conversation;
pub mod input;
pub mod open;
mod outputs;
pub mod signals;
pub mod start;
