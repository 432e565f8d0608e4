//! A mount namespace for the starts of machines: the host's mounts, but for the pins of namespaces.
//!
//! A start copies the mounts of its namespace twice. Slots have two pins each, so with a thousand of them a copy of all took
//! longer than the rest of the start. Mounts that the host removes later go here too, where the host shares its own; pins that
//! it adds do not come (`slots/folder.rs`).

use crate::process::clone::clone;
use rustix::fs::{Mode, OFlags, open};
use rustix::mount::{MountPropagationFlags, UnmountFlags, mount_change, unmount};
use rustix::process::{Pid, WaitOptions, waitpid};
use std::ffi::OsString;
use std::io::{Read, Result, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::process::exit;

/// File system of namespaces.
const NAMESPACES: &str = "nsfs";

/// The namespace lives as long as the descriptor.
pub fn without_pins() -> Result<OwnedFd> {
    let (mut parent, mut child) = UnixStream::pair()?;
    match clone(libc::CLONE_NEWNS, None)? {
        None => {
            drop(parent);
            let held = remove_pins().and_then(|()| {
                child.write_all(b"ready")?;
                child.read(&mut [0]).map(|_| ())
            });
            exit(i32::from(held.is_err()));
        }
        Some(pid) => {
            drop(child);
            let namespace = namespace_of(pid, &mut parent);
            drop(parent);
            waitpid(Some(pid), WaitOptions::empty())?;
            namespace
        }
    }
}

fn namespace_of(pid: Pid, child: &mut UnixStream) -> Result<OwnedFd> {
    child.read_exact(&mut [0; 5])?;
    let path = format!("/proc/{}/ns/mnt", pid.as_raw_nonzero());
    Ok(open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
}

fn remove_pins() -> Result<()> {
    mount_change(
        "/",
        MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC,
    )?;
    let mounts = std::fs::read("/proc/self/mountinfo")?;
    for pin in pins(&mounts) {
        unmount(pin, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW)?;
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

/// Blanks and backslashes are three octal digits behind a backslash.
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
