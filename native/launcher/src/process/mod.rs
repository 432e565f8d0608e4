//! Processes of the launcher: how they come to be, how urgent they are, and what they may use.

pub mod clone;
pub mod priority;
pub mod rlimits;
