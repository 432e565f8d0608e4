//! Drops files, rights and system calls that this process does not need. Sockets are bound before.

mod root;
mod seccomp;

use crate::bounds::OPEN_FILES;
use crate::failure::{Failure, Step};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sandhaven_filter::Filter;

/// Before any thread. Returns how many files it may have open.
pub fn confine(uid: u32, gid: u32) -> Result<u64, Failure> {
    let open_files = limit()?;
    root::empty()?;
    become_nobody(uid, gid)?;
    Filter::of(seccomp::RULES)
        .install()
        .step("filter system calls")?;
    Ok(open_files)
}

fn limit() -> Result<u64, Failure> {
    let most = getrlimit(Resource::Nofile)
        .maximum
        .unwrap_or(OPEN_FILES)
        .min(OPEN_FILES);
    for (resource, limit) in [(Resource::Nofile, most), (Resource::Core, 0)] {
        let both = Rlimit {
            current: Some(limit),
            maximum: Some(limit),
        };
        setrlimit(resource, both).step("set limits")?;
    }
    Ok(most)
}

/// All capabilities go with the user id.
fn become_nobody(uid: u32, gid: u32) -> Result<(), Failure> {
    let calls: [(&str, &dyn Fn() -> libc::c_int); 5] = [
        // SAFETY: takes numbers and no memory; this process has one thread.
        ("give up groups", &|| unsafe {
            libc::setgroups(0, std::ptr::null())
        }),
        // SAFETY: as above.
        ("change the group", &|| unsafe {
            libc::setresgid(gid, gid, gid)
        }),
        // SAFETY: as above.
        ("change the user", &|| unsafe {
            libc::setresuid(uid, uid, uid)
        }),
        // SAFETY: as above.
        ("give up new rights", &|| unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        }),
        // SAFETY: as above. Values of secrets are in this memory.
        ("hide the memory", &|| unsafe {
            libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0)
        }),
    ];
    for (name, call) in calls {
        if call() != 0 {
            return Err(std::io::Error::last_os_error()).step(name);
        }
    }
    Ok(())
}
