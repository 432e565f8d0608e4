//! Mount namespaces that are made before the processes that begin in them.

use crate::failure::{Failure, Step, failed};
use crate::process::clone::clone;
use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Pid, WaitOptions, waitpid};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::exit;

/// A status that no failure has.
const READY: u8 = 0;

/// Makes one that lives as long as the descriptor.
/// @param kinds CLONE_NEWNS, and others to which only its mounts belong.
/// @param furnish Prepares the namespace, in a process of its own.
pub fn make(kinds: i32, furnish: impl FnOnce() -> Result<(), Failure>) -> Result<OwnedFd, Failure> {
    let (mut parent, child) = UnixStream::pair().step("make a pair of sockets")?;
    match clone(kinds, None).step("clone a process for its mount namespace")? {
        None => {
            drop(parent);
            hold(child, furnish())
        }
        Some(pid) => {
            drop(child);
            let namespace = namespace_of(pid, &mut parent);
            drop(parent);
            waitpid(Some(pid), WaitOptions::empty()).step("wait for a mount namespace")?;
            namespace
        }
    }
}

pub fn open_at(path: impl AsRef<OsStr>) -> Result<OwnedFd, Failure> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    open(path.as_ref(), flags, Mode::empty()).step("open the mount namespace")
}

/// The calling process is at its root afterwards.
pub fn enter(namespace: impl AsFd) -> Result<(), Failure> {
    move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Mount))
        .step("enter the mount namespace")
}

/// Runs in the child, and waits until the parent hangs up.
fn hold(mut parent: UnixStream, furnished: Result<(), Failure>) -> ! {
    match furnished {
        Ok(()) => {
            let _ = parent.write_all(&[READY]);
            let _ = parent.read(&mut [0]);
        }
        Err(failure) => {
            let _ = parent.write_all(&failure.encode());
        }
    }
    exit(0)
}

fn namespace_of(pid: Pid, child: &mut UnixStream) -> Result<OwnedFd, Failure> {
    let mut first = [0];
    child
        .read_exact(&mut first)
        .step("furnish a mount namespace")?;
    if first == [READY] {
        return open_at(format!("/proc/{}/ns/mnt", pid.as_raw_nonzero()));
    }
    let mut text = first.to_vec();
    child
        .read_to_end(&mut text)
        .step("furnish a mount namespace")?;
    Err(Failure::decode(&text).unwrap_or_else(|| failed("a mount namespace was not furnished")))
}
