//! Code that an interpreter of the sandbox runs.

mod charts;
pub mod run;
