//! The rights of PID 1: first all of its user namespace, then for good those of a machine.

use crate::failure::{Failure, Step};
use rustix::io::Errno;
use rustix::process::{Gid, Uid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set, set_capabilities,
    set_thread_groups, set_thread_res_gid, set_thread_res_uid,
};
use sandhaven_filter::Filter;
use std::io::Error;

/// No SYS_ADMIN, SYS_PTRACE, NET_ADMIN, NET_RAW, MKNOD, AUDIT_WRITE … – as in src/runtime/oci/machine/config.ts.
const CAPABILITIES: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETPCAP)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::NET_BIND_SERVICE)
    .union(CapabilitySet::SYS_CHROOT)
    .union(CapabilitySet::SETFCAP);

/// More than any kernel has.
const CAPABILITY_NUMBERS: u32 = 64;

/// Becomes root of the machine's user namespace, without groups of the host.
pub fn become_root() -> Result<(), Failure> {
    set_thread_groups(&[]).step("leave the host's groups")?;
    set_thread_res_gid(Gid::ROOT, Gid::ROOT, Gid::ROOT).step("become the machine's group")?;
    set_thread_res_uid(Uid::ROOT, Uid::ROOT, Uid::ROOT).step("become the machine's root")
}

/// The kernel would otherwise find keys of the service's session in requests for a process inside.
pub fn leave_keyring() -> Result<(), Failure> {
    const JOIN_SESSION_KEYRING: i32 = 1;
    // SAFETY: a null pointer stands for a new keyring without a name.
    let ring = unsafe {
        libc::syscall(
            libc::SYS_keyctl,
            JOIN_SESSION_KEYRING,
            std::ptr::null::<libc::c_char>(),
        )
    };
    match ring {
        -1 => match Error::last_os_error() {
            // A kernel without keys.
            error if error.raw_os_error() == Some(Errno::NOSYS.raw_os_error()) => Ok(()),
            error => Err(error).step("leave the host's keyring"),
        },
        _ => Ok(()),
    }
}

/// The filter comes before the loss of CAP_SYS_ADMIN, which installing it needs: no_new_privs stays off, so that set-uid
/// programs work inside. Executing a program as root gives it the bounding set.
pub fn confine() -> Result<(), Failure> {
    bound()?;
    clear_ambient_capability_set().step("clear the ambient capabilities")?;
    Filter::of_machines()
        .install()
        .step("filter system calls")?;
    let sets = CapabilitySets {
        effective: CAPABILITIES,
        permitted: CAPABILITIES,
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, sets).step("give up capabilities")
}

fn bound() -> Result<(), Failure> {
    for number in (0..CAPABILITY_NUMBERS).filter(|number| CAPABILITIES.bits() & (1 << number) == 0)
    {
        // SAFETY: the call takes numbers.
        if unsafe { libc::prctl(libc::PR_CAPBSET_DROP, number as libc::c_ulong, 0, 0, 0) } == 0 {
            continue;
        }
        match Error::last_os_error() {
            // The kernel has no further capability.
            error if error.raw_os_error() == Some(libc::EINVAL) => break,
            error => return Err(error).step("bound the capabilities"),
        }
    }
    Ok(())
}
