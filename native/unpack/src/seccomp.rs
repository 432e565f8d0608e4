//! The system calls that unpacking needs; every other one fails.

use sandhaven_filter::calls::*;
use sandhaven_filter::{Rule, allow, bits};

#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    allow(&[
        __NR_read, __NR_write, __NR_pwrite64, __NR_lseek, __NR_close, __NR_writev,
        __NR_openat, __NR_fstat, __NR_newfstatat, __NR_statx, __NR_getdents64,
        __NR_readlinkat, __NR_fstatfs, __NR_fcntl,
        __NR_mkdirat, __NR_unlinkat, __NR_linkat, __NR_symlinkat,
        __NR_fchmod, __NR_fchmodat, __NR_fchown, __NR_fchownat, __NR_utimensat,
        __NR_fsetxattr, __NR_ftruncate, __NR_syncfs,
        __NR_mmap, __NR_munmap, __NR_mremap, __NR_mprotect, __NR_brk, __NR_madvise,
        __NR_rt_sigaction, __NR_rt_sigprocmask, __NR_rt_sigreturn, __NR_sigaltstack,
        __NR_futex, __NR_getrandom, __NR_exit, __NR_exit_group, __NR_getpid,
        __NR_gettid, __NR_tgkill,
    ], &[&[]]),
    // A node may be a FIFO and nothing else.
    allow(&[__NR_mknodat], &[&[bits(2, S_IFMT as u64, S_IFIFO as u64)]]),
];
