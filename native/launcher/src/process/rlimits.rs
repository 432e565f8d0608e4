//! Limits of resources that the machine's PID 1 inherits through runc. runc could set them itself only with rights
//! over the slot's namespace that a confined root of the host does not have.

use crate::failure::{Failure, Step, usage};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::ffi::OsStr;

/// Open files of a process: the soft and the hard limit.
pub struct OpenFiles {
    soft: u64,
    hard: u64,
}

impl OpenFiles {
    /// `SOFT:HARD`
    pub fn parse(value: &OsStr) -> Result<OpenFiles, Failure> {
        let parsed = value.to_str().and_then(|text| {
            let (soft, hard) = text.split_once(':')?;
            Some(OpenFiles {
                soft: soft.parse().ok()?,
                hard: hard.parse().ok()?,
            })
        });
        parsed.ok_or_else(|| usage("--open-files takes SOFT:HARD"))
    }

    /// No core dumps either: the host's pattern would choose their place.
    pub fn apply(&self) -> Result<(), Failure> {
        limit(Resource::Nofile, self.soft, self.hard).step("limit open files")?;
        limit(Resource::Core, 0, 0).step("limit core dumps")
    }
}

fn limit(resource: Resource, soft: u64, hard: u64) -> rustix::io::Result<()> {
    setrlimit(
        resource,
        Rlimit {
            current: Some(soft),
            maximum: Some(hard),
        },
    )
}
