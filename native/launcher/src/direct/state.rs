//! The machine's state, by which the service recognizes it. It is written when the agent runs, and exists
//! only complete.

use crate::failure::{Failure, Step};
use rustix::fs::{Mode, OFlags, mkdir, open, openat, renameat};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::Path;

const NAME: &str = "machine.json";
const PARTIAL: &str = "machine.json.partial";

pub struct State {
    folder: OwnedFd,
    partial: OwnedFd,
}

impl State {
    /// Opened while this process has rights over the folder.
    pub fn prepare(folder: &Path) -> Result<Self, Failure> {
        match mkdir(folder, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno).step("make the folder of the state"),
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = open(folder, flags, Mode::empty()).step("open the folder of the state")?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
        let partial = openat(&folder, PARTIAL, flags, Mode::RUSR | Mode::WUSR)
            .step("make the file of the state")?;
        Ok(State { folder, partial })
    }

    /// Files belong to the host's root. This process still has that user, without its capabilities.
    pub fn write(self, pid: i32, generation: u64) -> Result<(), Failure> {
        let text = format!("{{\"pid\":{pid},\"generation\":{generation}}}\n");
        rustix::io::write(&self.partial, text.as_bytes()).step("write the state")?;
        renameat(&self.folder, PARTIAL, &self.folder, NAME).step("show the state")
    }
}
