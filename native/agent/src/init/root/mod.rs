//! The root that programs see in a Pod: the image, with all changes kept on a disk. The disk itself, the bare
//! image and files of the node are hidden for good.

mod attach;
mod copy;
mod etc_files;
mod folders;
mod masks;
mod mounts;
mod overlay;
mod spare;
mod trees;

use rustix::mount::{MountPropagationFlags, mount_change};
use serde::Serialize;
use std::path::Path;

use self::overlay::Outcome;

/// The part of the file system that outlives a stop.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Persistence {
    Root,
    /// Only the folders of `folders`, where the cluster allows no overlay.
    Folders,
}

/// Runs before any other thread exists, and needs CAP_SYS_ADMIN. An agent that is killed here begins anew with its
/// next start: mounts end with the container, and only complete steps on the disk count.
/// @param disk A mount that only this agent uses.
pub fn take(disk: &Path) -> Result<Persistence, String> {
    let flags = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", flags).map_err(|errno| format!("cannot detach the mounts: {errno}"))?;
    let persistence = enter(disk)?;
    masks::hide_paths();
    Ok(persistence)
}

fn enter(disk: &Path) -> Result<Persistence, String> {
    // A disk keeps its kind of root, or its files would be lost.
    if !folders::are_on(disk) {
        match overlay::open_on(disk)? {
            Outcome::Mounted(root) => {
                return attach::enter(&root, disk).map(|()| Persistence::Root);
            }
            Outcome::Impossible(errno) => {
                eprintln!("sandhaven-agent: the disk takes no overlay: {errno}");
            }
        }
    }
    folders::bind(disk).map(|()| Persistence::Folders)
}
