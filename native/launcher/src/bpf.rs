//! The system call that takes programs for the kernel's own machine (BPF), and their instructions. The memory of a program counts
//! as the launcher's own: kernels that charge it to RLIMIT_MEMLOCK instead, before 5.11, are older than those that can mount an
//! image with shifted ids.

use std::ffi::CStr;
use std::io::Error;
use std::os::fd::{FromRawFd, OwnedFd};

const LOAD: i32 = 5;

/// An instruction in the kernel's form, on little-endian processors.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Instruction {
    pub code: u8,
    /// The target in the lower four bits, the source in the upper four.
    pub registers: u8,
    pub offset: i16,
    pub immediate: i32,
}

pub struct Kind {
    pub number: u32,
    pub attach_type: u32,
    pub flags: u32,
    /// The kernel lends some of its functions only to programs whose licence it knows.
    pub licence: &'static CStr,
    pub name: &'static [u8; 16],
}

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

/// A program lives as long as it is open or attached.
pub fn load(kind: &Kind, program: &[Instruction]) -> Result<OwnedFd, Error> {
    let arguments = LoadArguments {
        kind: kind.number,
        instructions: program.len() as u32,
        first: program.as_ptr() as u64,
        licence: kind.licence.as_ptr() as u64,
        log_level: 0,
        log_bytes: 0,
        log: 0,
        kernel_version: 0,
        flags: kind.flags,
        name: *kind.name,
        interface: 0,
        attach_type: kind.attach_type,
    };
    // SAFETY: the kernel reads the arguments, the instructions and a C string, which all outlive the call.
    unsafe { open(LOAD, &raw const arguments) }
}

/// # Safety
/// The same as of `call`, and the command opens a file.
pub unsafe fn open<T>(command: i32, arguments: *const T) -> Result<OwnedFd, Error> {
    // SAFETY: by the contract of this function.
    let number = unsafe { call(command, arguments) }?;
    // SAFETY: the number is that of a file that was just opened, close-on-exec, for nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// # Safety
/// The arguments are those of the command, and all that they point to outlives the call.
pub unsafe fn call<T>(command: i32, arguments: *const T) -> Result<i32, Error> {
    // SAFETY: by the contract of this function.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, arguments, size_of::<T>()) };
    match result {
        -1 => Err(Error::last_os_error()),
        number => Ok(number as i32),
    }
}
