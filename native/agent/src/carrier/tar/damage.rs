//! The refusal of an archive that is not what this agent writes.

use crate::wire::fault::{Code, Fault};

pub fn damaged(what: &str) -> Fault {
    Fault::new(
        Code::FailedPrecondition,
        format!("The archive is damaged: {what}."),
    )
}
