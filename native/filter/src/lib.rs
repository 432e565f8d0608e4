//! Filters of system calls. That of a machine is for both that start one: the launcher on a host, and the agent in a Pod, whose
//! start needs CAP_SYS_ADMIN, with which the default filter of Kubernetes lets mounts, namespaces and BPF pass. Helpers that
//! confine themselves have rules of their own.

mod program;
mod rule;
#[rustfmt::skip]
mod rules;

use std::io::Error;

pub use linux_raw_sys::general as calls;
pub use rule::{Rule, allow, bits, refuse};
pub use rules::MASKED_PATHS;

/// The kernel's program of all rules.
pub struct Filter {
    program: Vec<libc::sock_filter>,
    flags: libc::c_ulong,
}

impl Filter {
    pub fn of_machines() -> Self {
        Self {
            program: program::of(rules::RULES, libc::ENOSYS),
            // Without the flag, older kernels slow down every program that has a filter. runc sets it too.
            flags: libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW,
        }
    }

    /// For a program that needs what the rules allow, and nothing else.
    pub fn of(rules: &[Rule]) -> Self {
        Self {
            program: program::of(rules, libc::EPERM),
            flags: 0,
        }
    }

    /// Filters this process and all that it starts, for good. Called before any other thread exists. Needs
    /// CAP_SYS_ADMIN, or no_new_privs.
    pub fn install(mut self) -> Result<(), Error> {
        let program = libc::sock_fprog {
            len: self.program.len() as u16,
            filter: self.program.as_mut_ptr(),
        };
        // SAFETY: `program` names the filter and its length, and both outlive the call, in which the kernel copies them.
        let status = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                self.flags,
                &raw const program,
            )
        };
        match status {
            0 => Ok(()),
            _ => Err(Error::last_os_error()),
        }
    }
}
