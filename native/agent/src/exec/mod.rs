//! Commands: each runs under a supervisor of its own, which ends its whole tree when the host hangs up.

pub mod background;
pub mod capture;
pub mod command;
pub mod ending;
pub mod execute;
pub mod live;
mod live_backlog;
pub mod pipes;
pub mod report;
pub mod run;
pub mod spawn;
pub mod start_background;
mod supervisor;
pub mod terminal;
mod tree;
mod turns;
