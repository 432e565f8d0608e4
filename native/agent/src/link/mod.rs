//! The host's link to the agent itself: who answers, and for how long.

pub mod hello;
pub mod watch;
