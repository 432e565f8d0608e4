//! The options of a direct start.

use super::device_rules::Rule;
use super::groups::{Groups, Limit};
use super::trees;
use crate::failure::{Failure, Step, usage};
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::path::PathBuf;

/// Path of the agent inside a machine.
pub const AGENT: &str = "/.sandhaven/agent";

pub struct Direct {
    pub settings: Settings,
    pub groups: Groups,
    pub user_namespace: OsString,
    pub net_namespace: OsString,
    /// Namespace of mounts to begin in (`empty_mounts.rs`). Without it one is made, which takes milliseconds.
    pub empty_mounts: Option<OsString>,
    /// Folder of the machine's state, made here.
    pub state: PathBuf,
}

/// The part of the options that PID 1 gets.
pub struct Settings {
    pub id: String,
    pub generation: u64,
    /// File in the stage's file system of agents.
    pub agent: OsString,
    /// Size of /dev/shm.
    pub shm_bytes: u64,
    /// Most terminals at once.
    pub ptys: u32,
    /// Places of the device nodes that the stage has, in their order.
    pub nodes: Vec<OsString>,
    pub binds: Vec<Bind>,
    pub groups_view: GroupsView,
}

/// The machine's read-only view of its cgroups.
pub enum GroupsView {
    /// The stage's folder of them (`cgroups.rs`), as /sys/fs.
    Gathered,
    /// Its own group of version 2, as the root of its namespace.
    Own,
}

/// A file or a folder of the host, shown to the machine, read-only.
pub struct Bind {
    pub source: PathBuf,
    pub place: OsString,
}

impl Bind {
    /// Opened with the rights of the host's root, since the machine's root has none over the folders on the way.
    pub fn open(&self) -> Result<OwnedFd, Failure> {
        let name = || format!("clone {}", self.source.display());
        let tree = trees::clone(&self.source).step(name())?;
        trees::make_harmless(&tree).step(name())?;
        Ok(tree)
    }
}

/// Options while they are read.
#[derive(Default)]
pub struct Options {
    groups: Groups,
    nodes: Vec<OsString>,
    binds: Vec<Bind>,
    user_namespace: Option<OsString>,
    net_namespace: Option<OsString>,
    empty_mounts: Option<OsString>,
    state: Option<PathBuf>,
    generation: Option<u64>,
    agent: Option<OsString>,
    shm_bytes: Option<u64>,
    ptys: Option<u32>,
}

impl Options {
    pub fn take(&mut self, name: &str, args: &mut lexopt::Parser) -> Result<(), Failure> {
        use lexopt::ValueExt;
        match name {
            "group" => self.groups.folders.push(args.value()?.into()),
            "unified-group" => self.groups.unified = Some(args.value()?.into()),
            "inherit" => self.groups.inherited.push(args.value()?.into()),
            "limit" => self.groups.limits.push(Limit::parse(&args.value()?)?),
            "device-rule" => self.groups.devices.push(Rule::parse(&args.value()?)?),
            "node" => self.nodes.push(absolute(args.value()?)?),
            "bind" => self.binds.push(Bind {
                source: absolute(args.value()?)?.into(),
                place: absolute(args.value()?)?,
            }),
            "user-namespace" => self.user_namespace = Some(args.value()?),
            "net-namespace" => self.net_namespace = Some(args.value()?),
            "empty-mounts" => self.empty_mounts = Some(args.value()?),
            "state" => self.state = Some(args.value()?.into()),
            "generation" => self.generation = Some(args.value()?.parse()?),
            "agent" => self.agent = Some(args.value()?),
            "shm-bytes" => self.shm_bytes = Some(args.value()?.parse()?),
            "ptys" => self.ptys = Some(args.value()?.parse()?),
            _ => return Err(usage(&format!("--{name} is not known"))),
        }
        Ok(())
    }

    pub fn complete(self, id: &OsStr, groups_view: GroupsView) -> Result<Direct, Failure> {
        let id = id.to_str().ok_or_else(|| usage("--id is no text"))?;
        if self.groups.unified.is_none() && !self.groups.devices.is_empty() {
            return Err(usage("--device-rule needs --unified-group"));
        }
        Ok(Direct {
            settings: Settings {
                id: id.to_owned(),
                generation: given("generation", self.generation)?,
                agent: given("agent", self.agent)?,
                shm_bytes: given("shm-bytes", self.shm_bytes)?,
                ptys: given("ptys", self.ptys)?,
                nodes: self.nodes,
                binds: self.binds,
                groups_view,
            },
            groups: self.groups,
            user_namespace: given("user-namespace", self.user_namespace)?,
            net_namespace: given("net-namespace", self.net_namespace)?,
            empty_mounts: self.empty_mounts,
            state: given("state", self.state)?,
        })
    }
}

fn given<T>(name: &str, value: Option<T>) -> Result<T, Failure> {
    value.ok_or_else(|| usage(&format!("--{name} is missing")))
}

fn absolute(path: OsString) -> Result<OsString, Failure> {
    match path.as_encoded_bytes().first() {
        Some(b'/') => Ok(path),
        _ => Err(usage(&format!("{} is no absolute path", path.display()))),
    }
}
