//! The envelope of every request: the name of its operation, and its version of the protocol.

use serde::Deserialize;

use super::fault::{Code, Fault};

/// The agent speaks all versions from 1 to this one.
const PROTOCOL_VERSION: u32 = 9;

pub fn operation_of(payload: &[u8]) -> serde_json::Result<&str> {
    #[derive(Deserialize)]
    struct Head<'a> {
        op: &'a str,
    }
    let head: Head = serde_json::from_slice(payload)?;
    Ok(head.op)
}

/// Fails unless this agent speaks the version, and the version has the operation.
pub fn check_version(version: u32, since: u32) -> Result<(), Fault> {
    if (since..=PROTOCOL_VERSION).contains(&version) {
        return Ok(());
    }
    Err(unsupported_version())
}

/// Returns the newest of the versions that this agent speaks too.
pub fn newest_of(versions: &[u32]) -> Result<u32, Fault> {
    let spoken = versions
        .iter()
        .filter(|version| (1..=PROTOCOL_VERSION).contains(*version));
    spoken.max().copied().ok_or_else(unsupported_version)
}

fn unsupported_version() -> Fault {
    Fault::new(
        Code::FailedPrecondition,
        format!("This agent speaks versions 1 to {PROTOCOL_VERSION}."),
    )
}
