//! Shells that outlive a connection, with the logs of their commands. The agent keeps them beside the
//! processes: a service finds them unchanged after its restart, and the end of the sandbox ends them.

mod control;
pub mod create;
pub mod delete;
mod driver;
mod fifos;
pub mod follow;
pub mod input;
pub mod list;
pub mod logs;
mod record;
pub mod registry;
mod replies;
pub mod run;
mod shell;
mod state;
mod terminal;
