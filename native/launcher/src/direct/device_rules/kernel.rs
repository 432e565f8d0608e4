//! The system call that takes programs. The memory of a program counts as the launcher's own: kernels that charge it to
//! RLIMIT_MEMLOCK instead, before 5.11, are older than those that can mount an image with shifted ids.

use super::program::Instruction;
use std::io::Error;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const LOAD: i32 = 5;
const ATTACH: i32 = 8;

/// Kind of the program, and the place where it is attached.
const CGROUP_DEVICE_PROGRAM: u32 = 15;
const CGROUP_DEVICE: u32 = 6;
/// Beside programs that the group, or one above, has already: what any of them refuses is refused.
const ALLOW_MULTI: u32 = 2;

/// The beginning of the kernel's own structure; the kernel takes all behind it as zero.
#[repr(C)]
struct LoadArguments {
    kind: u32,
    instructions: u32,
    first: u64,
    licence: u64,
    log_level: u32,
    log_bytes: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
    interface: u32,
    attach_type: u32,
}

#[repr(C)]
struct AttachArguments {
    group: u32,
    program: u32,
    attach_type: u32,
    flags: u32,
}

/// A program lives as long as it is open or attached.
pub fn load(program: &[Instruction]) -> Result<OwnedFd, Error> {
    let arguments = LoadArguments {
        kind: CGROUP_DEVICE_PROGRAM,
        instructions: program.len() as u32,
        first: program.as_ptr() as u64,
        licence: c"Apache-2.0".as_ptr() as u64,
        log_level: 0,
        log_bytes: 0,
        log: 0,
        kernel_version: 0,
        flags: 0,
        name: *b"sandhaven_dev\0\0\0",
        interface: 0,
        attach_type: CGROUP_DEVICE,
    };
    // SAFETY: the kernel reads the arguments, the instructions and a C string, which all outlive the call.
    let number = unsafe { call(LOAD, &arguments) }?;
    // SAFETY: the number is that of a file that was just opened, close-on-exec, for nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

pub fn attach(program: &OwnedFd, group: &OwnedFd) -> Result<(), Error> {
    let arguments = AttachArguments {
        group: group.as_raw_fd() as u32,
        program: program.as_raw_fd() as u32,
        attach_type: CGROUP_DEVICE,
        flags: ALLOW_MULTI,
    };
    // SAFETY: the kernel reads the arguments, which outlive the call.
    unsafe { call(ATTACH, &arguments) }.map(drop)
}

/// # Safety
/// The arguments are those of the command, and all that they point to outlives the call.
unsafe fn call<T>(command: i32, arguments: &T) -> Result<i32, Error> {
    // SAFETY: by the contract of this function.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, arguments, size_of::<T>()) };
    match result {
        -1 => Err(Error::last_os_error()),
        number => Ok(number as i32),
    }
}
