//! Mounts of the stage and of the host that the machine shows, not attached yet. They are cloned with the
//! rights of the host's root while the stage is visible: PID 1 begins without both.

use super::settings::{AGENT, Bind, GroupsView, Settings};
use super::trees;
use crate::failure::{Failure, Step};
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::Path;

/// Files of the stage that show a machine its own memory, processors and start, below /proc and /sys.
const PROC_FIGURES: [&str; 4] = ["meminfo", "stat", "cpuinfo", "sys/kernel/random/boot_id"];
const SYS_FIGURES: [&str; 2] = ["devices/system/cpu/online", "devices/system/cpu/possible"];
const ETC_FILES: [&str; 3] = ["hosts", "hostname", "resolv.conf"];

pub struct Shown {
    pub root: OwnedFd,
    /// Filled by `devices.rs`.
    pub dev: OwnedFd,
    /// The collected cgroups, where the machine sees those.
    pub groups: Option<OwnedFd>,
    pub proc_figures: Vec<Figure>,
    pub sys_figures: Vec<Figure>,
    /// Mounts at paths of the image.
    pub others: Vec<Other>,
}

pub struct Figure {
    /// Path in the view of the kernel.
    pub name: &'static str,
    pub tree: OwnedFd,
}

pub struct Other {
    pub place: OsString,
    pub tree: OwnedFd,
}

impl Shown {
    /// Runs in the stage.
    pub fn clone(settings: &Settings) -> Result<Self, Failure> {
        let groups = match settings.groups_view {
            GroupsView::Gathered => Some(trees::clone_whole("fs").step("clone the cgroups")?),
            GroupsView::Own => None,
        };
        Ok(Shown {
            root: clone("root")?,
            dev: clone("devices/dev")?,
            groups,
            proc_figures: figures(PROC_FIGURES, |name| name.rsplit('/').next().unwrap_or(name))?,
            sys_figures: figures(SYS_FIGURES, |_| "cpus")?,
            others: others(settings)?,
        })
    }
}

fn figures<const COUNT: usize>(
    names: [&'static str; COUNT],
    file: impl Fn(&'static str) -> &'static str,
) -> Result<Vec<Figure>, Failure> {
    let figures = names.into_iter().map(|name| {
        let tree = clone(Path::new("figures").join(file(name)))?;
        Ok(Figure { name, tree })
    });
    figures.collect()
}

/// Returns the others in the order in which they are attached.
fn others(settings: &Settings) -> Result<Vec<Other>, Failure> {
    let agent = clone(Path::new("agent").join(&settings.agent))?;
    trees::make_harmless(&agent).step("make the agent read-only")?;
    let mut others = vec![Other {
        place: AGENT.into(),
        tree: agent,
    }];
    for name in ETC_FILES {
        others.push(Other {
            place: format!("/etc/{name}").into(),
            tree: clone(Path::new("etc").join(name))?,
        });
    }
    for (index, place) in settings.nodes.iter().enumerate() {
        others.push(Other {
            place: place.clone(),
            tree: clone(format!("devices/{index}"))?,
        });
    }
    for bind in &settings.binds {
        others.push(Other {
            place: bind.place.clone(),
            tree: Bind::open(bind)?,
        });
    }
    Ok(others)
}

/// @param path In the stage.
fn clone(path: impl AsRef<Path>) -> Result<OwnedFd, Failure> {
    let path = path.as_ref();
    trees::clone(path).step(format!("clone {} of the stage", path.display()))
}
