//! Refuses archives that this agent does not write.

use crate::wire::fault::{Code, Fault};

pub fn damaged(what: &str) -> Fault {
    Fault::new(
        Code::FailedPrecondition,
        format!("The archive is damaged: {what}."),
    )
}
