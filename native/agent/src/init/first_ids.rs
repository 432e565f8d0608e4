//! The ids below 64 belong to this process's threads alone. Root in the sandbox has the same uid and could change
//! this process's limits and priorities; the system call filter refuses that by the id
//! (`src/runtime/oci/machine/filter/agent-threads.ts`), so no other process may get one that it refuses.

use std::io::Error;

/// The filter's; a power of two.
pub const COUNT: i32 = 64;

/// Those of a thread, and that its maker waits for its end: all can use one stack.
const BRIEF_THREAD: libc::c_int = libc::CLONE_VM
    | libc::CLONE_FS
    | libc::CLONE_FILES
    | libc::CLONE_SIGHAND
    | libc::CLONE_THREAD
    | libc::CLONE_SYSVSEM
    | libc::CLONE_VFORK;

#[repr(align(16))]
struct Stack([u8; 4096]);

/// Once every thread has been started: uses up the ids that are left. The kernel counts up, and begins anew above 300.
pub fn keep() -> Result<(), String> {
    let mut stack = Stack([0; 4096]);
    for _ in last_own()?..COUNT {
        // SAFETY: the stack grows down from its end, and nobody else uses it before the new thread is gone. That thread
        // makes one system call, which ends it, and so does not need thread-local storage of its own.
        let id = unsafe {
            let end = stack.0.as_mut_ptr().add(stack.0.len());
            libc::clone(end_at_once, end.cast(), BRIEF_THREAD, std::ptr::null_mut())
        };
        if id == -1 {
            return Err(format!("cannot use up an id: {}", Error::last_os_error()));
        }
    }
    Ok(())
}

extern "C" fn end_at_once(_: *mut libc::c_void) -> libc::c_int {
    0
}

/// The newest thread's. What else has had an id before is gone.
fn last_own() -> Result<i32, String> {
    let tasks =
        std::fs::read_dir("/proc/self/task").map_err(|error| format!("threads: {error}"))?;
    let ids = tasks.filter_map(|task| task.ok()?.file_name().to_str()?.parse().ok());
    ids.max()
        .ok_or_else(|| "this process has no threads".to_owned())
}
