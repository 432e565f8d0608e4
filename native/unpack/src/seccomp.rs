//! The system calls that unpacking needs; every other one fails.

use rustix::io::Errno;

#[rustfmt::skip]
const ALLOWED: &[libc::c_long] = &[
    libc::SYS_read, libc::SYS_write, libc::SYS_pwrite64, libc::SYS_lseek, libc::SYS_close, libc::SYS_writev,
    libc::SYS_openat, libc::SYS_fstat, libc::SYS_newfstatat, libc::SYS_statx, libc::SYS_getdents64,
    libc::SYS_readlinkat, libc::SYS_fstatfs, libc::SYS_fcntl,
    libc::SYS_mkdirat, libc::SYS_unlinkat, libc::SYS_linkat, libc::SYS_symlinkat,
    libc::SYS_fchmod, libc::SYS_fchmodat, libc::SYS_fchown, libc::SYS_fchownat, libc::SYS_utimensat,
    libc::SYS_fsetxattr, libc::SYS_ftruncate, libc::SYS_syncfs,
    libc::SYS_mmap, libc::SYS_munmap, libc::SYS_mremap, libc::SYS_mprotect, libc::SYS_brk, libc::SYS_madvise,
    libc::SYS_rt_sigaction, libc::SYS_rt_sigprocmask, libc::SYS_rt_sigreturn, libc::SYS_sigaltstack,
    libc::SYS_futex, libc::SYS_getrandom, libc::SYS_exit, libc::SYS_exit_group, libc::SYS_getpid,
    libc::SYS_gettid, libc::SYS_tgkill,
];

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const AND: u16 = (libc::BPF_ALU | libc::BPF_AND | libc::BPF_K) as u16;
const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

/// Offsets in struct seccomp_data: number, architecture, the low half of the third argument.
const NUMBER: u32 = 0;
const MACHINE: u32 = 4;
const THIRD: u32 = 16 + 2 * 8;

/// Installs the filter for good. Needs no_new_privs.
pub fn install() -> Result<(), Errno> {
    let mut filter = program();
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: `program` names `filter` and its length, and both outlive the call, in which the kernel copies them.
    let status = unsafe {
        libc::prctl(
            libc::PR_SET_SECCOMP,
            libc::SECCOMP_MODE_FILTER,
            &raw const program,
        )
    };
    if status == 0 {
        return Ok(());
    }
    Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL))
}

fn program() -> Vec<libc::sock_filter> {
    let allow = one(RETURN, libc::SECCOMP_RET_ALLOW);
    let refuse = one(RETURN, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32);
    let mut filter = vec![
        one(LOAD, MACHINE),
        jump(EQUAL, ARCHITECTURE, 1, 0),
        one(RETURN, libc::SECCOMP_RET_KILL_PROCESS),
        one(LOAD, NUMBER),
    ];
    for &number in ALLOWED {
        filter.push(jump(EQUAL, number as u32, 0, 1));
        filter.push(allow);
    }
    // A node may be a FIFO and nothing else.
    filter.extend([
        jump(EQUAL, libc::SYS_mknodat as u32, 0, 4),
        one(LOAD, THIRD),
        one(AND, libc::S_IFMT),
        jump(EQUAL, libc::S_IFIFO, 0, 1),
        allow,
        refuse,
    ]);
    filter
}

fn one(code: u16, k: u32) -> libc::sock_filter {
    jump(code, k, 0, 0)
}

fn jump(code: u16, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter { code, jt, jf, k }
}
