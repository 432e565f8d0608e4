//! The filter of a machine's system calls, for both that start one: the launcher on a host, and the agent in a Pod, whose
//! start needs CAP_SYS_ADMIN, with which the default filter of Kubernetes lets mounts, namespaces and BPF pass.

mod program;
mod rule;
#[rustfmt::skip]
mod rules;

use std::io::Error;

pub use rules::MASKED_PATHS;

/// The kernel's program of all rules.
pub struct Filter(Vec<libc::sock_filter>);

impl Filter {
    pub fn of_machines() -> Self {
        Self(program::of(rules::RULES))
    }

    /// Filters this process and all that it starts, for good. Called before any other thread exists. Needs
    /// CAP_SYS_ADMIN.
    pub fn install(mut self) -> Result<(), Error> {
        let program = libc::sock_fprog {
            len: self.0.len() as u16,
            filter: self.0.as_mut_ptr(),
        };
        // Without the flag, older kernels slow down every program that has a filter. runc sets it too.
        // SAFETY: `program` names the filter and its length, and both outlive the call, in which the kernel copies them.
        let status = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                &raw const program,
            )
        };
        match status {
            0 => Ok(()),
            _ => Err(Error::last_os_error()),
        }
    }
}
