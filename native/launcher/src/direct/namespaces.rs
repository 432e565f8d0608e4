//! The machine's user and network namespaces, which its slot has ahead of time, and the mount namespace in
//! which it begins.

use super::empty_mounts;
use super::settings::Direct;
use crate::failure::{Failure, Step};
use crate::mounts::namespace;
use rustix::fs::{Mode, OFlags, open};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::os::fd::{AsFd, OwnedFd};

pub struct Namespaces {
    user: OwnedFd,
    net: OwnedFd,
    bare: OwnedFd,
}

/// The mount namespace that was left. Its mounts are removed when its last holder ends, which takes a while.
pub struct Left(#[expect(dead_code, reason = "held")] OwnedFd);

impl Direct {
    pub fn open_namespaces(&self) -> Result<Namespaces, Failure> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        Ok(Namespaces {
            user: open(&self.user_namespace, flags, Mode::empty())
                .step("open the user namespace of the slot")?,
            net: open(&self.net_namespace, flags, Mode::empty())
                .step("open the network namespace of the slot")?,
            bare: self
                .empty_mounts
                .as_ref()
                .map_or_else(empty_mounts::make, namespace::open_at)?,
        })
    }
}

impl Namespaces {
    /// The user namespace comes before the network's, since it gives the rights over that. The mount
    /// namespace is the host's, and comes first.
    pub fn join(self) -> Result<Left, Failure> {
        let left = namespace::open_at("/proc/self/ns/mnt")?;
        namespace::enter(self.bare)?;
        move_into_link_name_space(self.user.as_fd(), Some(LinkNameSpaceType::User))
            .step("join the user namespace")?;
        move_into_link_name_space(self.net.as_fd(), Some(LinkNameSpaceType::Network))
            .step("join the network namespace")?;
        Ok(Left(left))
    }
}
