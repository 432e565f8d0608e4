//! The end of a direct start: a process of the machine's own namespaces, which becomes the agent, in place of runc.
//!
//! This process joins the machine's user and network namespaces, so that all others that it makes belong to them, and
//! clones PID 1 (`init.rs`). It needs no further right over the host then: what it still does there, it does with files
//! that it has opened before.
//!
//! Killed at any moment, it leaves the cgroups, the folder of state and the socket, which are named after the sandbox.
//! PID 1 is in the fence until it is in the machine's cgroups, and cannot join them once they are removed.

mod clone;
mod groups;
mod init;
mod kernel_views;
mod masks;
mod place;
mod privileges;
mod report;
mod root;
mod settings;
mod state;
mod stdio;
mod trees;
mod walk;

use crate::failure::{Failure, Step};
use groups::{Groups, Joined};
use report::Reporter;
use rustix::fs::{Mode, OFlags, open};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use settings::{Bind, Settings};
use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

pub use settings::Options;

pub struct Direct {
    pub settings: Settings,
    pub groups: Groups,
    pub user_namespace: OsString,
    pub net_namespace: OsString,
    /// Folder of the machine's state, made here.
    pub state: PathBuf,
}

/// For PID 1, with the rights of the host's root.
struct Opened {
    groups: Joined,
    /// The mounts of what the settings bind.
    shared: Vec<OwnedFd>,
    /// The agent's socket.
    listener: OwnedFd,
}

impl Direct {
    /// Returns once the agent is executed and the state is written. The working directory is the stage.
    pub fn start(&self, listener: OwnedFd) -> Result<(), Failure> {
        let state = state::State::prepare(&self.state)?;
        let binds = self.settings.binds.iter();
        let opened = Opened {
            groups: self.groups.open()?,
            shared: binds.map(Bind::open).collect::<Result<_, _>>()?,
            listener,
        };
        let (reports, reporter) = report::pair()?;
        make_killable()?;
        self.join_namespaces()?;
        match clone::init(opened.groups.unified())? {
            None => {
                drop(reports);
                become_agent(&self.settings, opened, &reporter)
            }
            Some(pid) => {
                drop(reporter);
                report::wait(reports)?;
                state.write(pid, self.settings.generation)
            }
        }
    }

    /// The user namespace first: with it come the rights over the other one.
    fn join_namespaces(&self) -> Result<(), Failure> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let user = open(&self.user_namespace, flags, Mode::empty())
            .step("open the user namespace of the slot")?;
        let net = open(&self.net_namespace, flags, Mode::empty())
            .step("open the network namespace of the slot")?;
        move_into_link_name_space(user.as_fd(), Some(LinkNameSpaceType::User))
            .step("join the user namespace")?;
        move_into_link_name_space(net.as_fd(), Some(LinkNameSpaceType::Network))
            .step("join the network namespace")
    }
}

/// In PID 1. Ends it instead of returning where a step fails.
fn become_agent(settings: &Settings, opened: Opened, reporter: &Reporter) -> ! {
    match init::execute(settings, opened, reporter) {
        Ok(never) => match never {},
        Err(failure) => reporter.fail(&failure),
    }
}

/// The machine's PID 1 inherits no protection that the service may have from the killer of processes.
fn make_killable() -> Result<(), Failure> {
    const FILE: &str = "/proc/self/oom_score_adj";
    let present = std::fs::read_to_string(FILE).step("read oom_score_adj")?;
    if present.trim() == "0" {
        return Ok(());
    }
    std::fs::write(FILE, "0").step("set oom_score_adj")
}
