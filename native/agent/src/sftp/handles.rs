//! Files and folders that the client has open. A handle is a number that is never reused within the connection.

use std::collections::HashMap;
use std::os::fd::OwnedFd;

use super::bounds::MAX_HANDLES;
use super::failure::{Failure, Status};
use super::folders::Folder;

pub enum Open {
    File(OwnedFd),
    Folder(Folder),
}

#[derive(Default)]
pub struct Handles {
    open: HashMap<u64, Open>,
    last: u64,
}

impl Handles {
    /// Checked before anything is opened.
    pub fn check_room(&self) -> Result<(), Failure> {
        if self.open.len() < MAX_HANDLES {
            return Ok(());
        }
        Err(Failure::new(Status::Failure, "Too many files are open"))
    }

    pub fn add(&mut self, open: Open) -> [u8; 8] {
        self.last += 1;
        self.open.insert(self.last, open);
        self.last.to_be_bytes()
    }

    pub fn close(&mut self, handle: &[u8]) -> Result<(), Failure> {
        let closed = number(handle)
            .and_then(|number| self.open.remove(&number))
            .ok_or_else(Failure::unknown_handle)?;
        match closed {
            Open::File(file) => super::files::finish(&file),
            Open::Folder(_) => Ok(()),
        }
    }

    pub fn file(&self, handle: &[u8]) -> Result<&OwnedFd, Failure> {
        match number(handle).and_then(|number| self.open.get(&number)) {
            Some(Open::File(file)) => Ok(file),
            _ => Err(Failure::unknown_handle()),
        }
    }

    pub fn folder(&mut self, handle: &[u8]) -> Result<&mut Folder, Failure> {
        match number(handle).and_then(|number| self.open.get_mut(&number)) {
            Some(Open::Folder(folder)) => Ok(folder),
            _ => Err(Failure::unknown_handle()),
        }
    }
}

fn number(handle: &[u8]) -> Option<u64> {
    handle.try_into().map(u64::from_be_bytes).ok()
}
