//! Terminals that keep running without viewers: a shell on a pseudo-terminal, the last part of its output, and its
//! current viewers. The agent keeps all of it beside the processes, so it outlives connections and the service.

pub mod close;
mod driver;
mod escapes;
pub mod list;
pub mod open;
mod position;
pub mod registry;
mod ring;
mod state;
mod view;
