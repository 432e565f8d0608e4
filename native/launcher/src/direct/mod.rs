//! The end of a direct start: a process of the machine's own namespaces, which becomes the agent, in place of runc.
//!
//! This process joins the machine's user and network namespaces, so that all others that it makes belong to them, and
//! clones PID 1 (`init.rs`). It needs no further rights over the host then: it acts there through files that it has
//! opened before.
//!
//! A kill at any moment leaves the cgroups, the folder of state and the socket, which are named after the sandbox.
//! PID 1 is in the fence until it is in the machine's cgroups, and cannot join them once they are removed.

pub mod device_rules;
pub mod empty_mounts;
mod groups;
mod init;
mod kernel_views;
mod masks;
mod namespaces;
mod opened;
mod place;
mod privileges;
mod report;
mod root;
mod settings;
mod shown;
mod state;
mod stdio;
mod trees;
mod walk;

use crate::failure::{Failure, Step};
use crate::process::clone::clone;
use namespaces::Namespaces;
use opened::Opened;
use report::Reporter;
use settings::Settings;
use state::State;
use std::os::fd::OwnedFd;

pub use settings::{Direct, GroupsView, Options};

/// Namespaces of PID 1, except those of cgroups and of queues: the first is made after joining the groups,
/// and the second belongs to the user that makes it.
const NAMESPACES: i32 = libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::CLONE_NEWUTS;

/// Returns once the agent is executed and the state is written. The working folder is the stage.
pub fn start(direct: &Direct, namespaces: Namespaces, listener: OwnedFd) -> Result<(), Failure> {
    let state = State::prepare(&direct.state)?;
    let opened = Opened::open(direct, listener)?;
    let (reports, reporter) = report::pair()?;
    make_killable()?;
    let _stage = namespaces.join()?;
    match clone(NAMESPACES, opened.groups.unified()).step("clone the machine's first process")? {
        None => {
            drop(reports);
            become_agent(&direct.settings, opened, &reporter)
        }
        Some(pid) => {
            drop(reporter);
            report::wait(reports)?;
            state.write(pid.as_raw_nonzero().get(), direct.settings.generation)
        }
    }
}

/// Runs in PID 1. Ends the process instead of returning where a step fails.
fn become_agent(settings: &Settings, opened: Opened, reporter: &Reporter) -> ! {
    match init::execute(settings, opened, reporter) {
        Ok(never) => match never {},
        Err(failure) => reporter.fail(&failure),
    }
}

/// The service may be protected from the OOM killer; the machine's PID 1 must not inherit that.
fn make_killable() -> Result<(), Failure> {
    const FILE: &str = "/proc/self/oom_score_adj";
    let present = std::fs::read_to_string(FILE).step("read oom_score_adj")?;
    if present.trim() == "0" {
        return Ok(());
    }
    std::fs::write(FILE, "0").step("set oom_score_adj")
}
