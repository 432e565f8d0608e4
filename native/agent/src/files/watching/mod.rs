//! Changes below a folder, as they happen.

mod changes;
mod folders;
mod kernel;
pub mod seats;
mod take;
mod walk;
pub mod watch;
mod watcher;
