//! Device nodes for one machine, made here because no process inside a user namespace may make any.
//!
//! They are new nodes of the same numbers and not the host's own. They belong to the machine, whose
//! attributes, locks and watches on them affect nobody else. The cgroup decides which of them can be opened.

use crate::failure::{Failure, Step, usage};
use rustix::fs::{
    AtFlags, CWD, FileType, Gid, Mode, Uid, chmod, chown, chownat, makedev, mkdir, mknodat, symlink,
};
use rustix::mount::{MountFlags, mount};
use std::ffi::{CStr, OsStr};

pub struct Device {
    kind: FileType,
    major: u32,
    minor: u32,
    mode: u32,
    /// Ids inside the machine.
    uid: u32,
    gid: u32,
}

/// Path in the stage.
pub const NULL: &str = "devices/dev/null";

const OPTIONS: &CStr = c"size=64k,nr_inodes=1024,mode=0755";
const ID_COUNT: u32 = 65_536;

impl Device {
    /// `TYPE:MAJOR:MINOR:MODE:UID:GID`, the mode in octal.
    pub fn parse(text: &OsStr) -> Result<Self, Failure> {
        let wrong = || usage(&format!("--device {} is not understood", text.display()));
        let fields: Vec<&str> = text.to_str().ok_or_else(wrong)?.split(':').collect();
        let [kind, major, minor, mode, uid, gid] = fields[..] else {
            return Err(wrong());
        };
        let number = |field: &str, radix| u32::from_str_radix(field, radix).map_err(|_| wrong());
        let device = Device {
            kind: match kind {
                "c" => FileType::CharacterDevice,
                "b" => FileType::BlockDevice,
                _ => return Err(wrong()),
            },
            major: number(major, 10)?,
            minor: number(minor, 10)?,
            mode: number(mode, 8)?,
            uid: number(uid, 10)?,
            gid: number(gid, 10)?,
        };
        let sound = device.mode <= 0o777 && device.uid < ID_COUNT && device.gid < ID_COUNT;
        sound.then_some(device).ok_or_else(wrong)
    }

    fn standard(major: u32, minor: u32) -> Self {
        Device {
            kind: FileType::CharacterDevice,
            major,
            minor,
            mode: 0o666,
            uid: 0,
            gid: 0,
        }
    }

    fn make(&self, path: &str, uid_base: u32) -> Result<(), Failure> {
        let mode = Mode::from_raw_mode(self.mode);
        let number = makedev(self.major, self.minor);
        mknodat(CWD, path, self.kind, mode, number).step("make a device node")?;
        chmod(path, mode).step("open a device node")?;
        let owner = Uid::from_raw(uid_base + self.uid);
        let group = Gid::from_raw(uid_base + self.gid);
        chown(path, Some(owner), Some(group)).step("give a device node to the machine")
    }
}

/// Devices of every machine: name, major number of the kernel's memory devices (1) or terminals (5), minor number.
const STANDARD: [(&str, u32, u32); 6] = [
    ("null", 1, 3),
    ("zero", 1, 5),
    ("full", 1, 7),
    ("random", 1, 8),
    ("urandom", 1, 9),
    ("tty", 5, 0),
];

/// Other entries of /dev: mount points of terminals, shared memory and message queues, and links to the process's own
/// descriptors.
const FOLDERS: [&str; 3] = ["pts", "shm", "mqueue"];
const LINKS: [(&str, &str); 5] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// Makes them in the stage, which is the working folder: `devices/dev`, which becomes the machine's /dev, and
/// `devices/0`, `devices/1` and so on for the given devices, in their order. Only their file system allows
/// devices in the stage.
pub fn make(devices: &[Device], uid_base: u32) -> Result<(), Failure> {
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC | MountFlags::STRICTATIME;
    make_folder("devices", 0)?;
    mount("tmpfs", "devices", "tmpfs", flags, OPTIONS).step("mount the devices")?;
    for (index, device) in devices.iter().enumerate() {
        device.make(&format!("devices/{index}"), uid_base)?;
    }
    make_folder("devices/dev", uid_base)?;
    for (name, major, minor) in STANDARD {
        Device::standard(major, minor).make(&format!("devices/dev/{name}"), uid_base)?;
    }
    for name in FOLDERS {
        make_folder(&format!("devices/dev/{name}"), uid_base)?;
    }
    for (name, target) in LINKS {
        let path = format!("devices/dev/{name}");
        symlink(target, &path).step("name a device")?;
        let (owner, group) = (Uid::from_raw(uid_base), Gid::from_raw(uid_base));
        chownat(
            CWD,
            &path,
            Some(owner),
            Some(group),
            AtFlags::SYMLINK_NOFOLLOW,
        )
        .step("give a device's name to the machine")?;
    }
    Ok(())
}

fn make_folder(path: &str, owner: u32) -> Result<(), Failure> {
    mkdir(path, Mode::from_raw_mode(0o755)).step("furnish the stage")?;
    chown(path, Some(Uid::from_raw(owner)), Some(Gid::from_raw(owner))).step("furnish the stage")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_six_numbers_within_their_bounds() {
        let parse = |text: &str| Device::parse(OsStr::new(text));
        let device = parse("c:195:255:660:0:44").ok().expect("a device");
        assert_eq!((device.major, device.minor, device.mode), (195, 255, 0o660));
        for wrong in [
            "",
            "c:1:2",
            "p:1:2:666:0:0",
            "c:1:2:4666:0:0",
            "c:1:2:668:0:0",
            "c:-1:2:666:0:0",
            "c:1:2:666:65536:0",
            "c:1:2:666:0:0:0",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
