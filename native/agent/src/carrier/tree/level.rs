//! A folder of the new disk that may still get entries. Owner, mode, access lists and time come when it is left: making
//! entries in it changes its time, and its default access list would change theirs.

use std::os::fd::OwnedFd;

use super::finish::finish;
use super::xattrs;
use crate::carrier::tar::damage::damaged;
use crate::carrier::tar::entry::Attributes;
use crate::wire::fault::Fault;

pub struct Level {
    pub name: Vec<u8>,
    pub folder: OwnedFd,
    /// Attributes still to be set. They are few and short, since many folders are open at once.
    pub(super) attributes: Attributes,
}

impl Level {
    /// Writes the attributes that entries do not depend on.
    pub fn new(name: &[u8], folder: OwnedFd, attributes: &Attributes) -> Result<Self, Fault> {
        let (due, others): (Vec<_>, Vec<_>) = (attributes.xattrs.iter())
            .partition(|(name, value)| xattrs::is_access_list(name, value));
        if due.len() > xattrs::ACCESS_LISTS.len() {
            return Err(damaged("a folder has too many access lists"));
        }
        xattrs::write(&folder, others, name)?;
        Ok(Self {
            name: name.to_vec(),
            folder,
            attributes: Attributes {
                xattrs: due.into_iter().cloned().collect(),
                ..*attributes
            },
        })
    }

    pub fn leave(self) -> Result<(), Fault> {
        finish(&self.folder, &self.attributes, &self.name)
    }
}
