//! Files that PID 1 needs, opened by the launcher with the rights of the host's root.

use super::groups::Joined;
use super::settings::{Bind, Direct};
use crate::failure::Failure;
use std::os::fd::OwnedFd;

pub struct Opened {
    pub groups: Joined,
    /// The mounts of what the settings bind.
    pub shared: Vec<OwnedFd>,
    /// The agent's socket.
    pub listener: OwnedFd,
}

impl Opened {
    pub fn open(direct: &Direct, listener: OwnedFd) -> Result<Self, Failure> {
        let binds = direct.settings.binds.iter();
        Ok(Opened {
            groups: direct.groups.open()?,
            shared: binds.map(Bind::open).collect::<Result<_, _>>()?,
            listener,
        })
    }
}
