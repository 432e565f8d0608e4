//! Programs that exchange input and output with the host while they run, with or without a terminal.

pub mod conversation;
pub mod input;
pub mod open;
pub mod outputs;
pub mod signals;
pub mod start;
