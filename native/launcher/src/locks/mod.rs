//! `count-locks`: counts the file locks of each slot by the user who opened the locked file, whatever holds
//! the file since: a descriptor, a mapping, an unreceived message, a waiting call. The kernel charges locks
//! to nobody, and its own listings either leave some out (/proc/PID/fdinfo) or take time by the square of
//! their number (/proc/locks). So a BPF program walks the kernel's list in short runs.

mod kernel;
mod program;
mod types;

use crate::failure::{Failure, Step, failed};
use kernel::Walker;
use program::Fields;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::collections::BTreeMap;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use types::Types;

/// Most walks of one processor's list, if others change it meanwhile.
const TRIES: usize = 3;

type Counts = BTreeMap<u32, u64>;

/// Prints slots and their locks. Every processor has its own list, which begins with the lock taken last on it.
pub fn run(first_user: u32, users_of_slot: u32) -> Result<(), Failure> {
    let description = std::fs::read("/sys/kernel/btf/vmlinux").step("read the kernel's types")?;
    let fields = Types::parse(&description)
        .and_then(|types| Fields::find(&types))
        .ok_or_else(|| failed("the kernel's types have another form"))?;
    let own = memfd_create("lock", MemfdFlags::CLOEXEC).step("make a file")?;
    let walker = Walker::load(&fields, own.as_raw_fd()).step("load the count of locks")?;
    let slot_of = |user: u32| user.checked_sub(first_user)?.checked_div(users_of_slot);
    let mut total = Counts::new();
    for processor in processors()? {
        let mut only = CpuSet::new();
        only.set(processor);
        sched_setaffinity(None, &only).step(format!("move to processor {processor}"))?;
        for (slot, count) in count(&walker, &own, &slot_of)? {
            *total.entry(slot).or_default() += count;
        }
    }
    let mut output = std::io::stdout().lock();
    total
        .iter()
        .try_for_each(|(slot, count)| writeln!(output, "{slot} {count}"))
        .step("print the counts")
}

/// Returns the whole list's counts, or those of the longest walk when all were interrupted.
fn count(
    walker: &Walker,
    own: &OwnedFd,
    slot_of: &impl Fn(u32) -> Option<u32>,
) -> Result<Counts, Failure> {
    let (mut longest, mut most) = (Counts::new(), 0);
    for _ in 0..TRIES {
        kernel::renew_lock(own).step("take a lock")?;
        let (mut counts, mut seen) = (Counts::new(), 0_u64);
        let is_whole = walker
            .walk(|user| {
                seen += 1;
                if let Some(slot) = slot_of(user) {
                    *counts.entry(slot).or_default() += 1;
                }
            })
            .step("count locks")?;
        if seen > most {
            (longest, most) = (counts, seen);
        }
        if is_whole {
            break;
        }
    }
    // The list has at least the launcher's own lock.
    if most == 0 {
        return Err(failed("the list of locks was not found"));
    }
    Ok(longest)
}

/// Numbers of the processors in use, from a list such as "0-3,6".
fn processors() -> Result<Vec<usize>, Failure> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/online").step("list processors")?;
    let ranges = text.trim().split(',').map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse().ok()?..=last.parse().ok()?)
    });
    let ranges: Option<Vec<_>> = ranges.collect();
    let ranges = ranges.ok_or_else(|| failed("the list of processors has another form"))?;
    Ok(ranges.into_iter().flatten().collect())
}
