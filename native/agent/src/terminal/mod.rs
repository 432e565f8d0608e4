//! Terminals that go on without a viewer: a shell on a pseudo-terminal, the last of what it has printed, and whoever
//! looks at it now. All of it lives here, beside the processes, so it outlives connections and the service.

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
