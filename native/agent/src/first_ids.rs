//! The ids below 64 belong to this process's threads alone. Root in the sandbox has the same uid and could change
//! this process's limits and priorities; the system call filter refuses that by the id
//! (`src/runtime/oci/filter/agent-threads.ts`), so no other process may get one that it refuses.

use std::thread;

/// The filter's; a power of two.
pub const COUNT: i32 = 64;
const STACK_BYTES: usize = 16 << 10;

/// Once every thread has been started: uses up the ids that are left. A thread has its id from the moment that it is
/// made, so none is waited for. The kernel counts up, and begins anew above 300.
pub fn keep() -> Result<(), String> {
    for _ in last_own()?..COUNT {
        thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn(|| ())
            .map_err(|error| format!("cannot use up an id: {error}"))?;
    }
    Ok(())
}

/// The newest thread's. What else has had an id before is gone.
fn last_own() -> Result<i32, String> {
    let tasks =
        std::fs::read_dir("/proc/self/task").map_err(|error| format!("threads: {error}"))?;
    let ids = tasks.filter_map(|task| task.ok()?.file_name().to_str()?.parse().ok());
    ids.max()
        .ok_or_else(|| "this process has no threads".to_owned())
}
