//! The machine's view of its cgroups when controllers have hierarchies of their own (version 1): a folder for each,
//! over which its own group is mounted, read-only. runc would mount every hierarchy of the host anew, which takes as
//! long as most of its other mounts together.

use crate::failure::{Failure, Step, usage};
use rustix::fs::{Gid, Mode, Uid, chown, mkdir, symlink};
use rustix::mount::{MountFlags, mount_bind, mount_remount};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

pub struct Group {
    /// Name of the hierarchy's folder: its controllers, with commas between them.
    name: String,
    /// The machine's group there, on the host.
    path: PathBuf,
}

impl Group {
    /// `NAME=PATH`
    pub fn parse(text: &OsStr) -> Result<Self, Failure> {
        let wrong = || {
            usage(&format!(
                "--own-cgroup {} is not understood",
                text.display()
            ))
        };
        let (name, path) = text
            .to_str()
            .and_then(|text| text.split_once('='))
            .ok_or_else(wrong)?;
        let sound = name.starts_with(|first: char| first.is_ascii_alphabetic())
            && !name.contains('/')
            && Path::new(path).is_absolute();
        sound
            .then(|| Group {
                name: name.to_owned(),
                path: path.into(),
            })
            .ok_or_else(wrong)
    }
}

/// `fs/cgroup` in the stage, which is the working directory; `fs` becomes the machine's /sys/fs. Nothing where no group is
/// given.
pub fn show(groups: &[Group], uid_base: u32) -> Result<(), Failure> {
    if groups.is_empty() {
        return Ok(());
    }
    make_folder("fs", uid_base)?;
    // A mount of its own, so that it can be read-only.
    mount_bind("fs", "fs").step("show the cgroups")?;
    make_folder("fs/cgroup", uid_base)?;
    for Group { name, path } in groups {
        let place = Path::new("fs/cgroup").join(name);
        make_folder(&place, uid_base)?;
        mount_bind(path, &place).step("show a cgroup")?;
        make_read_only(&place)?;
        // Links for single controllers, as on hosts.
        for controller in name.split(',').filter(|controller| controller != name) {
            symlink(name, Path::new("fs/cgroup").join(controller)).step("name a controller")?;
        }
    }
    make_read_only(Path::new("fs"))
}

fn make_folder(path: impl AsRef<Path>, uid_base: u32) -> Result<(), Failure> {
    let (owner, group) = (Uid::from_raw(uid_base), Gid::from_raw(uid_base));
    mkdir(path.as_ref(), Mode::from_raw_mode(0o755)).step("furnish the stage")?;
    chown(path.as_ref(), Some(owner), Some(group)).step("furnish the stage")
}

fn make_read_only(mount: &Path) -> Result<(), Failure> {
    let flags = MountFlags::BIND
        | MountFlags::RDONLY
        | MountFlags::NOSUID
        | MountFlags::NODEV
        | MountFlags::NOEXEC;
    mount_remount(mount, flags, c"").step("make a mount read-only")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_a_name_and_an_absolute_path() {
        let parse = |text: &str| Group::parse(OsStr::new(text));
        let group = parse("cpu,cpuacct=/sys/fs/cgroup/cpu,cpuacct/a=b")
            .ok()
            .expect("a group");
        assert_eq!(group.name, "cpu,cpuacct");
        assert_eq!(group.path, Path::new("/sys/fs/cgroup/cpu,cpuacct/a=b"));
        for wrong in ["", "cpu", "cpu=", "=/a", "cpu=a", "../cpu=/a", "c/pu=/a"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
