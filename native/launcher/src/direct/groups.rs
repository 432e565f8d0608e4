//! The machine's cgroups: made and limited by this process, joined by PID 1 itself.

use super::device_rules::{self, Rule};
use crate::failure::{Failure, Step, usage};
use rustix::fs::{CWD, Mode, OFlags, mkdir, open, openat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

#[derive(Default)]
pub struct Groups {
    /// Folders in hierarchies of version 1.
    pub folders: Vec<PathBuf>,
    /// Folder in the hierarchy of version 2.
    pub unified: Option<PathBuf>,
    /// Files that are empty in a new group, and get the values of the group above.
    pub inherited: Vec<PathBuf>,
    /// Limits, set in this order.
    pub limits: Vec<Limit>,
    /// Devices that the group of version 2 may use, and no others. Without any it has no device rules.
    pub devices: Vec<Rule>,
}

pub struct Limit {
    file: PathBuf,
    value: String,
}

impl Limit {
    /// `FILE=VALUE`
    pub fn parse(text: &OsStr) -> Result<Self, Failure> {
        let parts = text.to_str().and_then(|text| text.rsplit_once('='));
        match parts {
            Some((file, value)) if Path::new(file).is_absolute() && !value.is_empty() => {
                Ok(Limit {
                    file: file.into(),
                    value: value.into(),
                })
            }
            _ => Err(usage(&format!(
                "--limit {} is not understood",
                text.display()
            ))),
        }
    }
}

impl Groups {
    pub fn make(&self) -> Result<(), Failure> {
        for folder in self.folders.iter().chain(&self.unified) {
            make_group(folder).step(format!("make the cgroup {}", folder.display()))?;
        }
        for file in &self.inherited {
            inherit(file)?;
        }
        for Limit { file, value } in &self.limits {
            write(file, value.as_bytes())?;
        }
        match &self.unified {
            Some(folder) if !self.devices.is_empty() => {
                device_rules::enforce(&self.devices, folder)
            }
            _ => Ok(()),
        }
    }

    /// The list of threads of each group: joining through the list of processes waits for all processors.
    pub fn open(&self) -> Result<Joined, Failure> {
        let lists = self.folders.iter().map(|folder| {
            let file = folder.join("tasks");
            open(&file, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())
                .step(format!("open {}", file.display()))
        });
        let unified = self.unified.as_ref().map(|folder| {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            open(folder, flags, Mode::empty()).step(format!("open {}", folder.display()))
        });
        Ok(Joined {
            lists: lists.collect::<Result<_, _>>()?,
            unified: unified.transpose()?,
        })
    }
}

/// Open files by which PID 1 joins the groups. The kernel checks the rights of the process that opened them.
pub struct Joined {
    lists: Vec<OwnedFd>,
    unified: Option<OwnedFd>,
}

impl Joined {
    pub fn unified(&self) -> Option<BorrowedFd<'_>> {
        self.unified.as_ref().map(AsFd::as_fd)
    }

    /// Moves the calling process, which has one thread. Fails with ENODEV when a group was removed.
    pub fn enter(self) -> Result<(), Failure> {
        for list in &self.lists {
            rustix::io::write(list, b"0").step("join a cgroup of the machine")?;
        }
        Ok(())
    }
}

/// Makes it, and the group above, which all machines of the instance share.
fn make_group(folder: &Path) -> Result<(), Errno> {
    let mode = Mode::from_raw_mode(0o755);
    let make = |folder: &Path| match mkdir(folder, mode) {
        Err(Errno::EXIST) => Ok(()),
        other => other,
    };
    match (make(folder), folder.parent()) {
        (Err(Errno::NOENT), Some(above)) => make(above).and_then(|()| make(folder)),
        (other, _) => other,
    }
}

fn inherit(file: &Path) -> Result<(), Failure> {
    let value = read(file)?;
    if !value.trim().is_empty() {
        return Ok(());
    }
    let above = file
        .parent()
        .and_then(Path::parent)
        .zip(file.file_name())
        .map(|(folder, name)| folder.join(name));
    let Some(above) = above.filter(|above| above.exists()) else {
        return Ok(());
    };
    inherit(&above)?;
    write(file, read(&above)?.trim().as_bytes())
}

fn read(file: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(file).step(format!("read {}", file.display()))
}

fn write(file: &Path, value: &[u8]) -> Result<(), Failure> {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    openat(CWD, file, flags, Mode::empty())
        .and_then(|opened| rustix::io::write(&opened, value))
        .map(|_| ())
        .step(format!(
            "write {} to {}",
            String::from_utf8_lossy(value),
            file.display()
        ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_an_absolute_file_and_a_value() {
        let parse = |text: &str| Limit::parse(OsStr::new(text));
        let limit = parse("/sys/fs/cgroup/a=b/devices.allow=c 1:3 rw")
            .ok()
            .expect("a limit");
        assert_eq!(limit.file, Path::new("/sys/fs/cgroup/a=b/devices.allow"));
        assert_eq!(limit.value, "c 1:3 rw");
        for wrong in ["", "/a", "a=1", "/a=", "=1"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_empty_file_takes_what_the_groups_above_have() {
        let root = std::env::temp_dir().join(format!("groups-{}", std::process::id()));
        let machine = root.join("all/one");
        make_group(&root).expect("a root");
        make_group(&machine).expect("both groups");
        for (folder, value) in [
            (&root, "0-3\n"),
            (&root.join("all"), "\n"),
            (&machine, "\n"),
        ] {
            std::fs::write(folder.join("cpus"), value).expect("a file");
        }
        assert!(inherit(&machine.join("cpus")).is_ok());
        for folder in [&root.join("all"), &machine] {
            let value = std::fs::read_to_string(folder.join("cpus")).expect("a value");
            assert_eq!(value.trim(), "0-3");
        }
        std::fs::remove_dir_all(&root).expect("no trace");
    }
}
