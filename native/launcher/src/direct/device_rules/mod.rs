//! Rules about devices on cgroup v2, which has no files for them: a program for the kernel's own machine
//! (BPF), attached to the machine's group before its first process. It belongs to the group, and is removed
//! with it.

mod kernel;
mod program;
mod rule;

use crate::failure::{Failure, Step};
use rustix::fs::{Mode, OFlags, open};
use std::path::Path;

pub use rule::Rule;

/// From now on every process of the group is refused all that no rule allows. The caller must have the host's rights.
pub fn enforce(rules: &[Rule], group: &Path) -> Result<(), Failure> {
    let program = kernel::load(&program::assemble(rules)).step("load the rules about devices")?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    open(group, flags, Mode::empty())
        .map_err(Into::into)
        .and_then(|group| kernel::attach(&program, &group))
        .step(format!(
            "attach the rules about devices to {}",
            group.display()
        ))
}

/// Fails where this kernel takes no such program, or does not take it from this process. Changes nothing.
pub fn try_out() -> Result<(), Failure> {
    kernel::load(&program::assemble(&[]))
        .map(drop)
        .step("load rules about devices")
}
