//! The filter of system calls of this process and all that it starts, where whoever made the container gave it a wider
//! one: the Pod needs CAP_SYS_ADMIN for its start, and with that the default filter of Kubernetes lets mounts,
//! namespaces and BPF pass. The rules are those of a machine on one host.

mod program;
mod rule;
#[rustfmt::skip]
mod rules;

use std::io::Error;

pub use rules::MASKED_PATHS;

/// For good, before any other thread exists. Needs CAP_SYS_ADMIN.
pub fn install() -> Result<(), String> {
    let mut filter = program::of(rules::RULES);
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // Without the flag, older kernels slow down every program that has a filter. runc sets it too.
    // SAFETY: `program` names `filter` and its length, and both outlive the call, in which the kernel copies them.
    let status = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW,
            &raw const program,
        )
    };
    if status != 0 {
        return Err(format!(
            "cannot filter system calls: {}",
            Error::last_os_error()
        ));
    }
    Ok(())
}
