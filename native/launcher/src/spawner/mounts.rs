//! Mount namespaces for the starts of machines, made once.
//!
//! The stage is made in a copy of the host's mounts without the pins of namespaces: slots have two pins each,
//! so with a thousand of them a copy of all took longer than the rest of the start. Mounts that the host
//! removes later are removed here too, where the host shares its mounts; new pins do not appear here
//! (`slots/folder.rs`). A machine that starts directly begins in one of the other kind
//! (`direct/empty_mounts.rs`).

use crate::direct::empty_mounts;
use crate::failure::{Failure, Step};
use crate::mounts::namespace;
use rustix::mount::{MountPropagationFlags, UnmountFlags, mount_change, unmount};
use std::ffi::OsString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;

/// File system of namespaces.
const NAMESPACES: &str = "nsfs";

/// None where it could not be made: starts work without it, and take longer.
pub struct Mounts {
    unpinned: Option<OwnedFd>,
    bare: Option<OwnedFd>,
}

impl Mounts {
    pub fn make() -> Self {
        Mounts {
            unpinned: namespace::make(libc::CLONE_NEWNS, remove_pins).ok(),
            bare: empty_mounts::make().ok(),
        }
    }

    /// Arguments of a start. The descriptors are this process's own, which outlives the start.
    pub fn arguments(&self) -> Vec<String> {
        let given = [("--mounts", &self.unpinned), ("--empty-mounts", &self.bare)];
        let given = given.into_iter().filter_map(|(name, namespace)| {
            let descriptor = namespace.as_ref()?.as_raw_fd();
            let path = format!("/proc/{}/fd/{descriptor}", std::process::id());
            Some([name.to_owned(), path])
        });
        given.flatten().collect()
    }
}

fn remove_pins() -> Result<(), Failure> {
    let downstream = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
    mount_change("/", downstream).step("make mounts one-way")?;
    let mounts = std::fs::read("/proc/self/mountinfo").step("read the mounts")?;
    for pin in pins(&mounts) {
        unmount(pin, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW).step("remove a pin")?;
    }
    Ok(())
}

/// Places of the pins in a mountinfo (proc_pid_mountinfo(5)).
fn pins(mounts: &[u8]) -> Vec<OsString> {
    let lines = mounts.split(|&byte| byte == b'\n');
    lines.filter_map(pin).collect()
}

fn pin(line: &[u8]) -> Option<OsString> {
    let mut words = line.split(|&byte| byte == b' ');
    let place = words.nth(4)?;
    words.by_ref().find(|&word| word == b"-")?;
    (words.next()? == NAMESPACES.as_bytes()).then(|| OsString::from_vec(unescape(place)))
}

/// Blanks and backslashes are a backslash with three octal digits.
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| byte == b'\\');
        let octal = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        plain.push(octal.unwrap_or(byte));
        rest = after
            .get(if octal.is_some() { 3 } else { 0 }..)
            .unwrap_or_default();
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_are_the_mounts_of_namespaces_with_their_plain_names() {
        let mounts = b"22 1 254:0 / / rw - ext4 /dev/vda rw\n\
            90 22 0:4 net:[4026532000] /run/a\\040b\\134/net rw shared:1 master:2 - nsfs nsfs rw\n\
            91 22 0:4 / /run/- rw - tmpfs nsfs rw\n";
        assert_eq!(pins(mounts), [OsString::from("/run/a b\\/net")]);
        assert_eq!(pins(b"\n1 2\n"), Vec::<OsString>::new());
    }
}
