//! `unpin-namespaces [--link NAME]… [--folder PATH] PIN…`: removes links of slots and their pins, and at last
//! the mount that holds all pins. Missing ones count as removed.

use super::folder;
use super::link::{in_group, without, without_group};
use super::netlink::Netlink;
use crate::failure::{Failure, Step};
use lexopt::prelude::*;
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};
use std::ffi::OsString;
use std::io::{Error, Result as IoResult};
use std::path::PathBuf;

/// Numbers for groups of links to be removed begin here, far from numbers that people choose.
const FIRST_GROUP: u32 = 1 << 30;

pub fn unpin(mut args: lexopt::Parser) -> Result<(), Failure> {
    let (mut links, mut pins): (Vec<String>, Vec<OsString>) = Default::default();
    let mut folder: Option<PathBuf> = None;
    while let Some(argument) = args.next()? {
        match argument {
            Long("link") => links.push(args.value()?.string()?),
            Long("folder") => folder = Some(args.value()?.into()),
            Value(pin) => pins.push(pin),
            other => return Err(other.unexpected().into()),
        }
    }
    remove_links(&links).step("remove links")?;
    for pin in &pins {
        remove_pin(pin).step(format!("unpin {}", pin.display()))?;
    }
    match folder {
        Some(folder) => folder::release(&folder).step("unmount the folder of slots"),
        None => Ok(()),
    }
}

/// Removes them as one group, in one step of the kernel; one by one, each would wait for its own grace
/// period. A single link is removed by its name, without a search of all links of the host. A link also
/// disappears with its namespace.
fn remove_links(names: &[String]) -> IoResult<()> {
    let mut netlink = Netlink::open()?;
    if let [name] = names {
        return unless_gone(netlink.ask(without(name))).map(drop);
    }
    let group = FIRST_GROUP | std::process::id();
    let mut is_any = false;
    for name in names {
        is_any |= unless_gone(netlink.ask(in_group(name, group)))?;
    }
    if is_any {
        unless_gone(netlink.ask(without_group(group)))?;
    }
    Ok(())
}

fn unless_gone(result: IoResult<()>) -> IoResult<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.raw_os_error() == Some(libc::ENODEV) => Ok(false),
        Err(error) => Err(error),
    }
}

fn remove_pin(pin: &OsString) -> Result<(), Error> {
    match unmount(pin, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW) {
        Ok(()) | Err(Errno::INVAL | Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
