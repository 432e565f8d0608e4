//! The program in the kernel, the state that it shares with its caller, and the lock at which its walk begins.

use super::program::{Fields, LOCKS, State, assemble};
use crate::bpf::{self, Kind};
use std::io::Error;
use std::os::fd::{AsRawFd, OwnedFd};

const CREATE_MAP: i32 = 0;
const LOOK_UP: i32 = 1;
const UPDATE: i32 = 2;
const RUN: i32 = 10;
const ARRAY: u32 = 2;

/// Runs in the caller's process when it is called. Such programs may always sleep.
const SYSTEM_CALL: u32 = 31;
const MAY_WAIT: u32 = 1 << 4;

#[repr(C)]
struct MapArguments {
    kind: u32,
    key_bytes: u32,
    value_bytes: u32,
    entries: u32,
}

#[repr(C)]
struct ValueArguments {
    map: u64,
    key: u64,
    value: u64,
    flags: u64,
}

/// The beginning of the kernel's own structure; the kernel takes all behind it as zero.
#[repr(C)]
struct RunArguments {
    program: u32,
    result: u32,
}

pub struct Walker {
    program: OwnedFd,
    state: OwnedFd,
}

impl Walker {
    /// @param locked Descriptor of a file on which `renew_lock` was called before each walk.
    pub fn load(fields: &Fields, locked: i32) -> Result<Self, Error> {
        let arguments = MapArguments {
            kind: ARRAY,
            key_bytes: size_of::<u32>() as u32,
            value_bytes: size_of::<State>() as u32,
            entries: 1,
        };
        // SAFETY: the kernel reads the arguments, which outlive the call, and opens the map.
        let state = unsafe { bpf::open(CREATE_MAP, &raw const arguments) }?;
        let kind = Kind {
            number: SYSTEM_CALL,
            attach_type: 0,
            flags: MAY_WAIT,
            licence: c"Dual MIT/GPL",
            name: b"sandhaven_lock\0\0",
        };
        let program = bpf::load(&kind, &assemble(fields, state.as_raw_fd(), locked))?;
        Ok(Self { program, state })
    }

    /// Calls `see` with the user who opened the file of each lock. Returns false where a change of the list
    /// ended the walk early.
    pub fn walk(&self, mut see: impl FnMut(u32)) -> Result<bool, Error> {
        let mut state = State {
            next: 0,
            before: 0,
            count: 0,
            users: [0; LOCKS],
        };
        self.exchange(UPDATE, &mut state)?;
        loop {
            let mut arguments = RunArguments {
                program: self.program.as_raw_fd() as u32,
                result: 0,
            };
            // SAFETY: the kernel reads the arguments and writes the result into them.
            unsafe { bpf::call(RUN, &raw mut arguments) }?;
            self.exchange(LOOK_UP, &mut state)?;
            let seen = state.users.get(..state.count as usize).unwrap_or_default();
            seen.iter().copied().for_each(&mut see);
            if arguments.result != 0 || state.next == 0 {
                return Ok(arguments.result == 0);
            }
        }
    }

    fn exchange(&self, command: i32, state: &mut State) -> Result<(), Error> {
        let key = 0_u32;
        let arguments = ValueArguments {
            map: self.state.as_raw_fd() as u64,
            key: &raw const key as u64,
            value: &raw mut *state as u64,
            flags: 0,
        };
        // SAFETY: the key and the state outlive the call, and have the sizes that the map was made with.
        unsafe { bpf::call(command, &raw const arguments) }.map(drop)
    }
}

/// Gives the file one lock, which is the newest of this processor.
pub fn renew_lock(file: &OwnedFd) -> Result<(), Error> {
    for kind in [libc::F_UNLCK, libc::F_WRLCK] {
        let lock = libc::flock {
            l_type: kind as libc::c_short,
            l_whence: libc::SEEK_SET as libc::c_short,
            l_start: 0,
            l_len: 1,
            l_pid: 0,
        };
        // SAFETY: the kernel reads the lock, which outlives the call.
        if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &lock) } < 0 {
            return Err(Error::last_os_error());
        }
    }
    Ok(())
}
