//! The root that the machine sees: the overlay, with all that the stage and the kernel show in it.

use super::kernel_views::Views;
use super::place::{open as open_place, required_in_view};
use super::settings::{AGENT, Bind, Settings};
use super::walk::Kind;
use super::{kernel_views, masks, trees};
use crate::failure::{Failure, Step};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{chdir, fchdir, pivot_root};
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::Path;

/// Files of the stage that show a machine its own memory and processors, below /proc and /sys.
const PROC_FIGURES: [&str; 3] = ["meminfo", "stat", "cpuinfo"];
const SYS_FIGURES: [&str; 2] = ["online", "possible"];
const ETC_FILES: [&str; 3] = ["hosts", "hostname", "resolv.conf"];

/// In the stage. Afterwards this process sees the machine's root alone, and works in it. Returns the machine's /dev.
/// @param shared The mounts of what the settings bind.
pub fn enter(settings: &Settings, shared: &[OwnedFd]) -> Result<OwnedFd, Failure> {
    let root = own_root().step("clone the root")?;
    let views = kernel_views::show(&root, settings)?;
    let agent = trees::clone(Path::new("agent").join(&settings.agent)).step("clone the agent")?;
    trees::make_harmless(&agent).step("make the agent read-only")?;
    show(&root, &agent, OsStr::new(AGENT))?;
    for name in ETC_FILES {
        let place = format!("/etc/{name}");
        bind(&root, &Path::new("etc").join(name), place.as_ref())?;
    }
    show_figures(&views)?;
    for (index, place) in settings.nodes.iter().enumerate() {
        bind(&root, Path::new(&format!("devices/{index}")), place)?;
    }
    for (tree, Bind { place, .. }) in shared.iter().zip(&settings.binds) {
        show(&root, tree, place)?;
    }
    masks::hide(&views)?;
    pivot(&root)?;
    Ok(views.dev)
}

/// The stage's root again, as a mount of this process's own, which can become the root.
fn own_root() -> Result<OwnedFd, rustix::io::Errno> {
    let root = trees::clone("root")?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    trees::attach(&root, open("root", flags, Mode::empty())?)?;
    Ok(root)
}

/// @param source Path of the stage.
fn bind(root: &OwnedFd, source: &Path, place: &OsStr) -> Result<(), Failure> {
    let tree = trees::clone(source).step(format!("show {}", place.display()))?;
    show(root, &tree, place)
}

/// Makes the place a folder or a file, as the mount is one.
fn show(root: &OwnedFd, tree: &OwnedFd, place: &OsStr) -> Result<(), Failure> {
    let name = || format!("show {}", place.display());
    let mode = fstat(tree).step(name())?.st_mode;
    let kind = match FileType::from_raw_mode(mode) {
        FileType::Directory => Kind::Folder,
        _ => Kind::File,
    };
    trees::attach(tree, open_place(root, place, kind)?).step(name())
}

fn show_figures(views: &Views) -> Result<(), Failure> {
    for name in PROC_FIGURES {
        show_figure(name, &views.proc, name)?;
    }
    for name in SYS_FIGURES {
        show_figure("cpus", &views.sys, &format!("devices/system/cpu/{name}"))?;
    }
    Ok(())
}

fn show_figure(file: &str, view: &OwnedFd, name: &str) -> Result<(), Failure> {
    let place = required_in_view(view, name)?;
    trees::clone(Path::new("figures").join(file))
        .and_then(|tree| trees::attach(tree, place))
        .step(format!("show {name}"))
}

/// The old root comes to lie over the new one, and is taken away. No descriptor that leads back outlives the execution of the
/// agent, and the working directory is inside.
fn pivot(root: &OwnedFd) -> Result<(), Failure> {
    fchdir(root).step("enter the root")?;
    pivot_root(".", ".").step("change the root")?;
    unmount(".", UnmountFlags::DETACH).step("leave the old root")?;
    chdir("/").step("enter the root")?;
    Ok(())
}
