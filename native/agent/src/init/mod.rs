//! The duties of PID 1: the start, the socket, the reaping of orphans, and the threads that may block. It
//! knows no operation.

pub mod arguments;
pub mod boot;
pub mod context;
pub mod first_ids;
mod grace;
mod network;
mod privileges;
pub mod readiness;
pub mod reaper;
pub mod root;
pub mod server;
pub mod workers;
