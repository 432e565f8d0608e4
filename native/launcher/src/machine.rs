//! `start`: makes a running machine from a disk image and an unpacked image.
//!
//! Everything is mounted in a mount namespace of this process alone. The machine's own namespace has copies
//! of the mounts that it needs, so none is visible on the host, and the end of the machine removes all of
//! them and the loop device.

use crate::direct::{self, Direct, GroupsView, Options as DirectOptions};
use crate::failure::{Failure, Step, usage};
use crate::fence::Fence;
use crate::loop_device::{self, Queue};
use crate::mounts::namespace;
use crate::process::rlimits;
use crate::{cgroups, devices, figures, image, mounts, runc, socket};
use lexopt::prelude::*;
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::thread::UnshareFlags;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

struct Options {
    fence: Fence,
    own_cgroups: Vec<cgroups::Group>,
    /// Mount namespace to begin in, in place of the service's.
    mounts: Option<OsString>,
    id: OsString,
    bundle: PathBuf,
    stage: PathBuf,
    disk: OsString,
    lower: PathBuf,
    agents: PathBuf,
    devices: Vec<devices::Device>,
    uid_base: u32,
    open_files: rlimits::OpenFiles,
    socket: OsString,
    end: End,
}

/// The last step, which makes a machine of the mounts.
enum End {
    Runc { program: OsString, state: OsString },
    Direct(Box<Direct>),
}

/// With runc it returns only when it fails.
pub fn start(args: lexopt::Parser) -> Result<(), Failure> {
    let options = parse(args)?;
    options.fence.enter()?;
    let image = image::open_locked(&options.disk)?;
    let device = loop_device::attach(&image, Queue::Bounded)?;
    device.note(&options.bundle.join("loop"))?;
    match &options.end {
        End::Direct(direct) => {
            // Opened while the pins of the slot are still visible.
            let namespaces = direct.open_namespaces()?;
            if let Some(mounts) = &options.mounts {
                namespace::enter(namespace::open_at(mounts)?)?;
            }
            let listener = furnish(&options, &device, || direct.groups.make())?;
            direct::start(direct, namespaces, listener)
        }
        End::Runc { program, state } => {
            let run = runc::Run {
                program,
                state,
                bundle: &options.bundle,
                id: &options.id,
            };
            match run.execute(furnish(&options, &device, || Ok(()))?)? {}
        }
    }
}

/// Makes all mounts of the machine, in a namespace of their own, and its groups. Returns the agent's socket.
fn furnish(
    options: &Options,
    device: &loop_device::LoopDevice,
    make_groups: impl FnOnce() -> Result<(), Failure>,
) -> Result<OwnedFd, Failure> {
    // SAFETY: this process has one thread, so no other loses what it shares with this one. Open descriptors stay.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) }
        .step("make a mount namespace")?;
    mount_change(
        "/",
        MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
    )
    .step("make mounts private")?;
    mounts::make_stage(&options.stage, &options.bundle, options.uid_base)?;
    let ids = mounts::idmap::user_namespace(options.uid_base)?;
    mounts::mount_disk(&device.path, &ids)?;
    mounts::mount_lower(&options.lower, &ids)?;
    mounts::mount_agents(&options.agents, &ids)?;
    mounts::mount_overlay(options.uid_base)?;
    devices::make(&options.devices, options.uid_base)?;
    figures::make(options.uid_base)?;
    make_groups()?;
    cgroups::show(&options.own_cgroups, options.uid_base)?;
    let listener = socket::listen_at(&options.socket)?;
    options.open_files.apply()?;
    Ok(listener)
}

fn parse(mut args: lexopt::Parser) -> Result<Options, Failure> {
    let (mut fence, mut own_cgroups, mut devices) = (Fence::default(), Vec::new(), Vec::new());
    let (mut id, mut bundle, mut stage, mut disk, mut lower) = (None, None, None, None, None);
    let (mut uid_base, mut socket, mut runc, mut runc_root) = (None, None, None, None);
    let (mut agents, mut open_files, mut mounts) = (None, None, None);
    let mut direct = DirectOptions::default();
    while let Some(arg) = args.next()? {
        let Long(name) = arg else {
            return Err(arg.unexpected().into());
        };
        match name.to_owned().as_str() {
            "cgroup" => fence.list = Some(args.value()?.into()),
            "unified-cgroup" => fence.group = Some(args.value()?.into()),
            "own-cgroup" => own_cgroups.push(cgroups::Group::parse(&args.value()?)?),
            "mounts" => mounts = Some(args.value()?),
            "id" => id = Some(args.value()?),
            "bundle" => bundle = Some(args.value()?.into()),
            "stage" => stage = Some(args.value()?.into()),
            "disk" => disk = Some(args.value()?),
            "lower" => lower = Some(args.value()?.into()),
            "agents" => agents = Some(args.value()?.into()),
            "device" => devices.push(devices::Device::parse(&args.value()?)?),
            "uid-base" => uid_base = Some(args.value()?.parse()?),
            "open-files" => open_files = Some(rlimits::OpenFiles::parse(&args.value()?)?),
            "socket" => socket = Some(args.value()?),
            "runc" => runc = Some(args.value()?),
            "runc-root" => runc_root = Some(args.value()?),
            name => direct.take(name, &mut args)?,
        }
    }
    let missing = |name: &str| usage(&format!("--{name} is missing"));
    let id = id.ok_or_else(|| missing("id"))?;
    let view = if own_cgroups.is_empty() {
        GroupsView::Own
    } else {
        GroupsView::Gathered
    };
    let end = match (runc, runc_root) {
        (Some(program), Some(state)) => End::Runc { program, state },
        (None, None) => End::Direct(direct.complete(&id, view)?.into()),
        _ => return Err(usage("--runc and --runc-root come together")),
    };
    Ok(Options {
        fence,
        own_cgroups,
        mounts,
        devices,
        id,
        end,
        bundle: bundle.ok_or_else(|| missing("bundle"))?,
        stage: stage.ok_or_else(|| missing("stage"))?,
        disk: disk.ok_or_else(|| missing("disk"))?,
        lower: lower.ok_or_else(|| missing("lower"))?,
        agents: agents.ok_or_else(|| missing("agents"))?,
        uid_base: uid_base.ok_or_else(|| missing("uid-base"))?,
        open_files: open_files.ok_or_else(|| missing("open-files"))?,
        socket: socket.ok_or_else(|| missing("socket"))?,
    })
}
