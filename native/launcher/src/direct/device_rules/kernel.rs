//! Loads programs of rules into the kernel.

use crate::bpf::{self, Instruction, Kind};
use std::io::Error;
use std::os::fd::{AsRawFd, OwnedFd};

const ATTACH: i32 = 8;

/// Kind of the program, and the place where it is attached.
const CGROUP_DEVICE_PROGRAM: u32 = 15;
const CGROUP_DEVICE: u32 = 6;
/// The program joins others of the group and of groups above: a refusal by any of them counts.
const ALLOW_MULTI: u32 = 2;

#[repr(C)]
struct AttachArguments {
    group: u32,
    program: u32,
    attach_type: u32,
    flags: u32,
}

pub fn load(program: &[Instruction]) -> Result<OwnedFd, Error> {
    let kind = Kind {
        number: CGROUP_DEVICE_PROGRAM,
        attach_type: CGROUP_DEVICE,
        flags: 0,
        licence: c"Apache-2.0",
        name: b"sandhaven_dev\0\0\0",
    };
    bpf::load(&kind, program)
}

pub fn attach(program: &OwnedFd, group: &OwnedFd) -> Result<(), Error> {
    let arguments = AttachArguments {
        group: group.as_raw_fd() as u32,
        program: program.as_raw_fd() as u32,
        attach_type: CGROUP_DEVICE,
        flags: ALLOW_MULTI,
    };
    // SAFETY: the kernel reads the arguments, which outlive the call.
    unsafe { bpf::call(ATTACH, &raw const arguments) }.map(drop)
}
