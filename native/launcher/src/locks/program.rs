//! The program that walks the kernel's list of locks. It reads without taking the list's lock, for which all
//! locking processes would wait: a read of freed memory fails or is noticed, and changes nothing. The kernel
//! allows such reads only to programs under the GPL, so this one may be used under the MIT licence and the
//! GPL too.

use super::types::Types;
use crate::bpf::Instruction;

/// Locks visited in one run, which takes well below a millisecond.
pub const LOCKS: usize = 1_024;

/// State that the program and its caller share. A place of 0 is before the first lock, and after the last.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct State {
    /// The next lock of the list, and the one before it.
    pub next: u64,
    pub before: u64,
    pub count: u64,
    /// Users of the host that opened the locked files.
    pub users: [u32; LOCKS],
}

/// Places of fields.
pub struct Fields {
    /// From the current task to the locks of the file of the caller's descriptor.
    files: i32,
    table: i32,
    descriptors: i32,
    inode: i32,
    context: i32,
    locks: i32,
    /// Offsets in a lock: its link in its file's list, its link in the list of all locks, and its file.
    of_file: i32,
    of_all: i32,
    file: i32,
    opener: i32,
    user: i32,
}

impl Fields {
    /// None where this kernel has other structures.
    pub fn find(types: &Types) -> Option<Self> {
        // Linux 6.9 gave locks and leases a common part, which begins both.
        let of_lock = |field: &str| {
            let common = types.offset("file_lock_core", &format!("flc_{field}"));
            common.or_else(|| types.offset("file_lock", &format!("fl_{field}")))
        };
        Some(Self {
            files: types.offset("task_struct", "files")?,
            table: types.offset("files_struct", "fdt")?,
            descriptors: types.offset("fdtable", "fd")?,
            inode: types.offset("file", "f_inode")?,
            context: types.offset("inode", "i_flctx")?,
            locks: types.offset("file_lock_context", "flc_posix")?,
            of_file: of_lock("list")?,
            of_all: of_lock("link")?,
            file: of_lock("file")?,
            opener: types.offset("file", "f_cred")?,
            user: types.offset("cred", "uid")?,
        })
    }
}

const RESULT: u8 = 0;
const STATE: u8 = 6;
const NEXT: u8 = 7;
const BEFORE: u8 = 8;
const COUNT: u8 = 9;
const STACK: u8 = 10;
/// Places on the stack for values that are read from the kernel.
const READ: i16 = -16;

const LOAD: u8 = 0x79;
const LOAD_HALF: u8 = 0x61;
const STORE: u8 = 0x7b;
const STORE_HALF: u8 = 0x63;
const COPY: u8 = 0xbf;
const SET: u8 = 0xb7;
const ADD: u8 = 0x07;
const ADD_REGISTER: u8 = 0x0f;
const SHIFT_LEFT: u8 = 0x67;
const SET_ADDRESS: u8 = 0x18;
const ADDRESS_OF_MAP: u8 = 2;
const SKIP: u8 = 0x05;
const SKIP_UNLESS: u8 = 0x55;
const SKIP_IF: u8 = 0x15;
const SKIP_UNLESS_SAME: u8 = 0x5d;
const CALL: u8 = 0x85;
const RETURN: u8 = 0x95;
const CURRENT_TASK: i32 = 35;
const READ_KERNEL: i32 = 113;

/// @param map Descriptor of the map that holds the state.
/// @param locked Descriptor of a file with one lock, the newest of its processor: the list begins with it.
pub fn assemble(fields: &Fields, map: i32, locked: i32) -> Vec<Instruction> {
    let mut program = Assembly::default();
    program.add(SET_ADDRESS, STATE, ADDRESS_OF_MAP, 0, map);
    program.add(0, 0, 0, 0, 0);
    program.add(LOAD, NEXT, STATE, 0, 0);
    program.add(LOAD, BEFORE, STATE, 8, 0);
    program.add(SET, COUNT, 0, 0, 0);
    let begun = program.skip(SKIP_UNLESS, NEXT, 0);
    program.add(CALL, 0, 0, 0, CURRENT_TASK);
    program.add(COPY, NEXT, RESULT, 0, 0);
    for offset in [
        fields.files,
        fields.table,
        fields.descriptors,
        locked * 8,
        fields.inode,
        fields.context,
        fields.locks,
    ] {
        program.read(NEXT, offset, 8);
        program.add(LOAD, NEXT, STACK, READ, 0);
    }
    program.add(ADD, NEXT, 0, 0, fields.of_all - fields.of_file);
    program.read(NEXT, 8, 8);
    program.add(LOAD, BEFORE, STACK, READ, 0);
    program.land(begun);

    let again = program.instructions.len();
    let end = program.skip(SKIP_IF, NEXT, 0);
    program.read(NEXT, 0, 16);
    // A lock whose predecessor is not the one that led here was freed or moved meanwhile.
    program.add(LOAD, 1, STACK, READ + 8, 0);
    program.give_up_unless_same(1, BEFORE);
    program.add(COPY, BEFORE, NEXT, 0, 0);
    program.add(LOAD, NEXT, STACK, READ, 0);
    program.read(BEFORE, fields.file - fields.of_all, 8);
    program.add(LOAD, 1, STACK, READ, 0);
    program.read(1, fields.opener, 8);
    program.add(LOAD, 1, STACK, READ, 0);
    program.read(1, fields.user, 4);
    program.add(LOAD_HALF, 1, STACK, READ, 0);
    program.add(COPY, 2, COUNT, 0, 0);
    program.add(SHIFT_LEFT, 2, 0, 0, 2);
    program.add(ADD_REGISTER, 2, STATE, 0, 0);
    program.add(STORE_HALF, 2, 1, 24, 0);
    program.add(ADD, COUNT, 0, 0, 1);
    let back = again as i16 - program.instructions.len() as i16 - 1;
    program.add(SKIP_UNLESS, COUNT, 0, back, LOCKS as i32);
    program.land(end);
    program.finish()
}

#[derive(Default)]
struct Assembly {
    instructions: Vec<Instruction>,
    /// Jumps to the end where a read has failed.
    failures: Vec<usize>,
}

impl Assembly {
    fn add(&mut self, code: u8, target: u8, source: u8, offset: i16, immediate: i32) {
        self.instructions.push(Instruction {
            code,
            registers: target | source << 4,
            offset,
            immediate,
        });
    }

    /// Returns the place of a jump whose target is not set yet.
    fn skip(&mut self, code: u8, target: u8, immediate: i32) -> usize {
        self.add(code, target, 0, 0, immediate);
        self.instructions.len() - 1
    }

    fn land(&mut self, skip: usize) {
        let distance = self.instructions.len() - skip - 1;
        if let Some(instruction) = self.instructions.get_mut(skip) {
            instruction.offset = distance as i16;
        }
    }

    /// Reads the kernel's memory at an address in a register, to the stack.
    fn read(&mut self, from: u8, offset: i32, bytes: i32) {
        self.add(COPY, 3, from, 0, 0);
        self.add(ADD, 3, 0, 0, offset);
        self.add(SET, 2, 0, 0, bytes);
        self.add(COPY, 1, STACK, 0, 0);
        self.add(ADD, 1, 0, 0, i32::from(READ));
        self.add(CALL, 0, 0, 0, READ_KERNEL);
        let failure = self.skip(SKIP_UNLESS, RESULT, 0);
        self.failures.push(failure);
    }

    fn give_up_unless_same(&mut self, one: u8, other: u8) {
        self.add(SKIP_UNLESS_SAME, one, other, 0, 0);
        self.failures.push(self.instructions.len() - 1);
    }

    /// Returns 0 where the walk may continue or is complete, and 1 where it was interrupted.
    fn finish(mut self) -> Vec<Instruction> {
        self.add(SET, RESULT, 0, 0, 0);
        let done = self.skip(SKIP, 0, 0);
        for failure in std::mem::take(&mut self.failures) {
            self.land(failure);
        }
        self.add(SET, RESULT, 0, 0, 1);
        self.land(done);
        self.add(STORE, STATE, NEXT, 0, 0);
        self.add(STORE, STATE, BEFORE, 8, 0);
        self.add(STORE, STATE, COUNT, 16, 0);
        self.add(RETURN, 0, 0, 0, 0);
        self.instructions
    }
}
