//! Files that PID 1 needs, opened by the launcher with the rights of the host's root.

use super::groups::Joined;
use super::settings::Direct;
use super::shown::Shown;
use crate::failure::Failure;
use std::os::fd::OwnedFd;

pub struct Opened {
    pub groups: Joined,
    pub shown: Shown,
    /// The agent's socket.
    pub listener: OwnedFd,
}

impl Opened {
    /// Runs in the stage.
    pub fn open(direct: &Direct, listener: OwnedFd) -> Result<Self, Failure> {
        Ok(Opened {
            groups: direct.groups.open()?,
            shown: Shown::clone(&direct.settings)?,
            listener,
        })
    }
}
