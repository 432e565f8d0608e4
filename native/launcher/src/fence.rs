//! The fence: a cgroup of this boot of the service, killed as a whole before the next boot reconciles.

use crate::failure::{Failure, Step};
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write;

/// Moves this process, and so all that it becomes, into the cgroups whose `cgroup.procs` files are given.
/// A fence that was torn down is gone, so that a helper of a dead service fails here instead of acting late.
pub fn join(procs_files: &[OsString]) -> Result<(), Failure> {
    for file in procs_files {
        let mut procs = OpenOptions::new()
            .write(true)
            .open(file)
            .step("open the fence")?;
        procs.write_all(b"0").step("join the fence")?;
    }
    Ok(())
}
