//! The host's link to the agent itself: its identity, its version, and its end.

pub mod hello;
pub mod watch;
