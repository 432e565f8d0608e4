//! The root that programs see in a Pod: the image, with all changes kept on a disk. Whatever shows the disk itself, the
//! bare image or files of the node goes out of view for good.

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
    /// Those of `folders`, where the cluster allows no more.
    Folders,
}

/// Before any other thread exists; needs CAP_SYS_ADMIN. An agent that is killed here begins anew with its next start:
/// mounts end with the container, and what lies on the disk is complete or counts for nothing.
/// @param disk A mount that nothing but this agent uses.
pub fn take(disk: &Path) -> Result<Persistence, String> {
    let flags = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", flags).map_err(|errno| format!("cannot detach the mounts: {errno}"))?;
    let persistence = enter(disk)?;
    masks::hide_paths();
    Ok(persistence)
}

fn enter(disk: &Path) -> Result<Persistence, String> {
    // A disk stays what it was: its files would be missed.
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
