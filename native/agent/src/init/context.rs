//! Shared resources that PID 1 gives to every operation, and in whose name it is called.

use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;

use super::account::Account;
use super::arguments::Identity;
use super::base::Base;
use super::reaper::Reaper;
use super::root::Persistence;
use super::workers::Workers;
use crate::wire::fault::Fault;

#[derive(Clone)]
pub struct Context {
    pub identity: Rc<Identity>,
    pub workers: Rc<Workers>,
    pub reaper: Rc<Reaper>,
    pub persistence: Option<Persistence>,
    /// Inode of the socket on which this agent listens for the host, where programs inside can see it.
    pub entrance_inode: Option<u64>,
    /// Where the call's relative paths begin.
    pub base: Base,
    /// None for a call as root.
    pub account: Option<Arc<Account>>,
    pub(super) null: Rc<OwnedFd>,
}

impl Context {
    /// The null device, open since the start: the sandbox may have removed it.
    pub fn null(&self) -> Result<OwnedFd, Fault> {
        Ok(self.null.try_clone()?)
    }

    /// The same for a call as a user of the sandbox.
    pub fn of_user(&self, account: Account, base: Base) -> Self {
        let account = Arc::new(account);
        Self {
            workers: Rc::new(self.workers.of_user(&account)),
            base,
            account: Some(account),
            ..self.clone()
        }
    }
}
