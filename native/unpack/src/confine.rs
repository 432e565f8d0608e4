//! Makes the new root file system the only one that this process can name, and drops all other rights.
//! Afterwards no path of an archive can lead outside, whatever the rest of the program does.

use crate::failure::{Failure, Kind, Step};
use crate::seccomp;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, open};
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount_bind, mount_change, mount_remount,
    unmount,
};
use rustix::process::{Resource, Rlimit, chdir, pivot_root, setrlimit, umask};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use sandhaven_filter::Filter;
use std::path::Path;

/// CHOWN, DAC_OVERRIDE, FOWNER, FSETID, SETFCAP: needed to make files of other users.
const KEPT: u64 = 1 << 0 | 1 << 1 | 1 << 3 | 1 << 4 | 1 << 31;
const LAST_CAPABILITY: u64 = 63;
const MEMORY_BYTES: u64 = 1024 * 1024 * 1024;
const OPEN_FILES: u64 = 1024;

/// Gives back the root as a descriptor.
pub fn confine(root: &Path, file_bytes: u64) -> Result<OwnedFd, Failure> {
    let flags = UnshareFlags::NEWNS | UnshareFlags::NEWIPC | UnshareFlags::NEWUTS;
    // SAFETY: this process has one thread, and shares no files or memory with another.
    unsafe { unshare_unsafe(flags) }.step("enter namespaces")?;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).step("make mounts private")?;
    mount_bind(root, root).step("mount the root")?;
    chdir(root).step("enter the root")?;
    let safe = MountFlags::BIND | MountFlags::NODEV | MountFlags::NOSUID | MountFlags::NOEXEC;
    mount_remount(".", safe, c"").step("mount the root")?;
    pivot_root(".", ".").step("change the root")?;
    unmount(".", UnmountFlags::DETACH).step("leave the host's files")?;
    chdir("/").step("enter the root")?;
    umask(Mode::empty());
    limit(file_bytes)?;
    drop_privileges()?;
    let root =
        open("/", OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).step("open the root")?;
    Filter::of(seccomp::RULES)
        .install()
        .map_err(|error| Failure::new(Kind::Internal, format!("filter system calls: {error}")))?;
    Ok(root)
}

fn limit(file_bytes: u64) -> Result<(), Failure> {
    for (resource, most) in [
        (Resource::Fsize, file_bytes),
        (Resource::As, MEMORY_BYTES),
        (Resource::Nofile, OPEN_FILES),
        (Resource::Core, 0),
    ] {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        setrlimit(resource, limit).step("set limits")?;
    }
    Ok(())
}

#[repr(C)]
struct CapabilityHeader {
    version: u32,
    pid: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct CapabilityData {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

const CAPABILITY_VERSION_3: u32 = 0x2008_0522;

fn drop_privileges() -> Result<(), Failure> {
    let half = |shift: u32| CapabilityData {
        effective: (KEPT >> shift) as u32,
        permitted: (KEPT >> shift) as u32,
        inheritable: 0,
    };
    let header = CapabilityHeader {
        version: CAPABILITY_VERSION_3,
        pid: 0,
    };
    let data = [half(0), half(32)];
    // SAFETY: header and data outlive the call that reads them, and have the layout of version 3, of which data has two
    // halves. The kernel writes to the header only where it does not know that version. The other calls take numbers.
    let done = unsafe {
        for capability in 0..=LAST_CAPABILITY {
            // The error for an unknown capability of this kernel is ignored.
            libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0);
        }
        libc::syscall(libc::SYS_capset, &header, data.as_ptr()) == 0
            && libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    };
    if done {
        return Ok(());
    }
    let error = std::io::Error::last_os_error();
    Err(Failure::new(
        Kind::Internal,
        format!("drop privileges: {error}"),
    ))
}
