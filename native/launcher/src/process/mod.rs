//! Processes of the launcher: their creation, priority and resource limits.

pub mod clone;
pub mod priority;
pub mod rlimits;
