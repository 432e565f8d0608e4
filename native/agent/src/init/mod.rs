//! The duties of PID 1: the start, the socket, the reaping of orphans, and the threads that may block. It
//! knows no operation.

pub mod account;
pub mod arguments;
pub mod base;
pub mod boot;
pub mod context;
pub mod first_ids;
mod grace;
pub mod identity;
mod network;
mod privileges;
pub mod readiness;
pub mod reaper;
pub mod root;
pub mod server;
pub mod workers;
