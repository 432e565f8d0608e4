//! Shared resources that PID 1 gives to every operation.

use std::os::fd::OwnedFd;
use std::rc::Rc;

use super::arguments::Identity;
use super::reaper::Reaper;
use super::root::Persistence;
use super::workers::Workers;
use crate::wire::fault::Fault;

pub struct Context {
    pub identity: Identity,
    pub workers: Rc<Workers>,
    pub reaper: Rc<Reaper>,
    pub persistence: Option<Persistence>,
    /// Inode of the socket on which this agent listens for the host, where programs inside can see it.
    pub entrance_inode: Option<u64>,
    pub(super) null: OwnedFd,
}

impl Context {
    /// The null device, open since the start: the sandbox may have removed it.
    pub fn null(&self) -> Result<OwnedFd, Fault> {
        Ok(self.null.try_clone()?)
    }
}
