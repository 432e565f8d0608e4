//! Processes that outlive the call that started them, and everyone who watches them. The agent holds the last of their
//! output, their input and their end, so they survive connections and the service.

pub mod control;
mod driver;
pub mod input;
pub mod list;
mod log;
pub mod registry;
pub mod start;
mod state;
pub mod view;
