//! The ids below 64 belong to this process's threads alone. Root in the sandbox has the same uid and could
//! change this process's limits and priorities. The system call filter refuses that for these ids
//! (`src/runtime/oci/machine/filter/agent-threads.ts`), so no other process may have one of them.

use std::io::Error;

/// The filter's number of ids; a power of two.
pub const COUNT: i32 = 64;

/// Flags of a thread whose creator waits for its end, so that all such threads can use one stack.
const BRIEF_THREAD: libc::c_int = libc::CLONE_VM
    | libc::CLONE_FS
    | libc::CLONE_FILES
    | libc::CLONE_SIGHAND
    | libc::CLONE_THREAD
    | libc::CLONE_SYSVSEM
    | libc::CLONE_VFORK;

#[repr(align(16))]
struct Stack([u8; 4096]);

/// Uses up the ids that are left, once every thread has been started. The kernel counts upwards, and wraps to 300.
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

/// Returns the newest thread's id. Every other process with a lower id has ended.
fn last_own() -> Result<i32, String> {
    let tasks =
        std::fs::read_dir("/proc/self/task").map_err(|error| format!("threads: {error}"))?;
    let ids = tasks.filter_map(|task| task.ok()?.file_name().to_str()?.parse().ok());
    ids.max()
        .ok_or_else(|| "this process has no threads".to_owned())
}
