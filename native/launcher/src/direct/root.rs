//! The root that the machine sees: the overlay, with the mounts of the stage and of the kernel in it.

use super::place::{open as open_place, required_in_view};
use super::settings::Settings;
use super::shown::{Figure, Other, Shown};
use super::walk::Kind;
use super::{kernel_views, masks, trees};
use crate::failure::{Failure, Step};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::process::{chdir, chroot, fchdir};
use std::os::fd::OwnedFd;

/// Afterwards this process sees only the machine's root, and works in it. Returns the machine's /dev.
pub fn enter(settings: &Settings, shown: Shown) -> Result<OwnedFd, Failure> {
    cover(&shown.root)?;
    let views = kernel_views::show(&shown, settings)?;
    for other in &shown.others {
        show(&shown.root, other)?;
    }
    // What is made read-only covers what was mounted in it before.
    masks::hide(&views, &shown.dev)?;
    show_figures(&views.proc, &shown.proc_figures)?;
    show_figures(&views.sys, &shown.sys_figures)?;
    Ok(shown.dev)
}

/// Puts the root over that of the namespace, below which nothing leads (`empty_mounts.rs`). No descriptor that leads elsewhere outlives the
/// execution of the agent.
fn cover(root: &OwnedFd) -> Result<(), Failure> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let bare = open("/", flags, Mode::empty()).step("open the empty root")?;
    trees::attach(root, bare).step("cover the empty root")?;
    fchdir(root)
        .and_then(|()| chroot("."))
        .and_then(|()| chdir("/"))
        .step("enter the root")
}

/// Makes the place a folder or a file, like the root of the mount.
fn show(root: &OwnedFd, Other { place, tree }: &Other) -> Result<(), Failure> {
    let name = || format!("show {}", place.display());
    let mode = fstat(tree).step(name())?.st_mode;
    let kind = match FileType::from_raw_mode(mode) {
        FileType::Directory => Kind::Folder,
        _ => Kind::File,
    };
    trees::attach(tree, open_place(root, place, kind)?).step(name())
}

fn show_figures(view: &OwnedFd, figures: &[Figure]) -> Result<(), Failure> {
    for Figure { name, tree } in figures {
        trees::attach(tree, required_in_view(view, name)?).step(format!("show {name}"))?;
    }
    Ok(())
}
