//! The machine's user and network namespaces, which its slot has made ahead of time.

use super::settings::Direct;
use crate::failure::{Failure, Step};
use rustix::fs::{Mode, OFlags, open};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::os::fd::{AsFd, OwnedFd};

pub struct Namespaces {
    user: OwnedFd,
    net: OwnedFd,
}

impl Direct {
    pub fn open_namespaces(&self) -> Result<Namespaces, Failure> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        Ok(Namespaces {
            user: open(&self.user_namespace, flags, Mode::empty())
                .step("open the user namespace of the slot")?,
            net: open(&self.net_namespace, flags, Mode::empty())
                .step("open the network namespace of the slot")?,
        })
    }
}

impl Namespaces {
    /// The user namespace first: with it come the rights over the other one.
    pub fn join(self) -> Result<(), Failure> {
        move_into_link_name_space(self.user.as_fd(), Some(LinkNameSpaceType::User))
            .step("join the user namespace")?;
        move_into_link_name_space(self.net.as_fd(), Some(LinkNameSpaceType::Network))
            .step("join the network namespace")
    }
}
