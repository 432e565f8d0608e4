//! Contexts: interpreters that outlive a call, with the variables of the code that they ran. The agent holds them beside the
//! processes, so a service finds them unchanged after its restart, and the end of the sandbox ends them.

pub mod control;
pub mod create;
mod kernel;
pub mod list;
mod messages;
mod program;
pub mod registry;
pub mod run;
