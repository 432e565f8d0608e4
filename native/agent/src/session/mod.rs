//! Shells that outlive a connection, with the logs of their commands. All of it lives here, beside the
//! processes: a service that restarts finds it as it was, and the end of the sandbox ends it.

mod control;
pub mod create;
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
