//! The ids below 64 belong to this process's threads alone. Root in the sandbox has the same uid and could change
//! this process's limits and priorities; the system call filter refuses that by the id
//! (`src/runtime/oci/filter/agent-threads.ts`), so no other process may get one that it refuses.

use std::thread;

/// The filter's; a power of two.
pub const COUNT: i32 = 64;
const STACK_BYTES: usize = 16 << 10;

/// Once every thread has been started: uses up the ids that are left. The kernel counts up, and begins anew above 300.
pub fn keep() -> Result<(), String> {
    loop {
        let id = thread::Builder::new()
            .stack_size(STACK_BYTES)
            // SAFETY: takes nothing and cannot fail.
            .spawn(|| unsafe { libc::gettid() })
            .map_err(|error| format!("cannot use up an id: {error}"))?
            .join()
            .map_err(|_| "a thread that used up an id is gone".to_owned())?;
        if id >= COUNT - 1 {
            return Ok(());
        }
    }
}
