//! A thread that works as a user: with the user's rights, and with no capability unless it takes some. Linux keeps both for each thread; the
//! calls concern this one alone, unlike those of a C library.

use rustix::io::Errno;
use rustix::process::{Gid, Uid, getgroups};
use rustix::thread::{
    CapabilitySet, capabilities, set_capabilities, set_thread_groups, set_thread_res_gid,
    set_thread_res_uid,
};

/// What root may do to files of others.
const ACCESS: CapabilitySet = CapabilitySet::DAC_OVERRIDE
    .union(CapabilitySet::DAC_READ_SEARCH)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::CHOWN);

/// Runs a job as the user. Root works as ever.
pub fn run_as<T>(
    user: u32,
    group: u32,
    groups: &[u32],
    job: impl FnOnce() -> T,
) -> Result<T, Errno> {
    if user == 0 {
        return Ok(job());
    }
    let _entered = Entered::enter(Uid::from_raw(user), Gid::from_raw(group), groups)?;
    Ok(job())
}

/// Gives a thread that works as a user root's access to files, until its job ends: what it makes is the user's, wherever it lies.
pub fn take_access() -> Result<(), Errno> {
    // The saved id is root's, so that the kernel has left them permitted.
    let mut held = capabilities(None)?;
    held.effective |= held.permitted & ACCESS;
    set_capabilities(None, held)
}

/// Makes the thread root's again when dropped.
struct Entered {
    groups: Vec<Gid>,
}

impl Entered {
    /// The saved ids stay root's, which leads back. The kernel takes the capabilities from the thread with the user id.
    fn enter(user: Uid, group: Gid, groups: &[u32]) -> Result<Self, Errno> {
        let entered = Self {
            groups: getgroups()?,
        };
        let groups: Vec<_> = groups.iter().map(|id| Gid::from_raw(*id)).collect();
        set_thread_groups(&groups)?;
        set_thread_res_gid(group, group, Gid::ROOT)?;
        set_thread_res_uid(user, user, Uid::ROOT)?;
        stay_closed();
        Ok(entered)
    }
}

impl Drop for Entered {
    /// A thread that cannot go back would do the next call's work as this user.
    fn drop(&mut self) {
        let back = set_thread_res_uid(Uid::ROOT, Uid::ROOT, Uid::ROOT)
            .and_then(|()| set_thread_res_gid(Gid::ROOT, Gid::ROOT, Gid::ROOT))
            .and_then(|()| set_thread_groups(&self.groups));
        if back.is_err() {
            std::process::abort();
        }
        stay_closed();
    }
}

/// A change of ids resets the dumpable flag to the system's default, which an administrator may have relaxed.
fn stay_closed() {
    // SAFETY: takes numbers, and touches no memory.
    unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0) };
}
