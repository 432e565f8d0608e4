//! The system calls that this program needs; every other one fails. Sockets are of the internet, or ask for routes.

use sandhaven_filter::calls::*;
use sandhaven_filter::{Rule, allow, bits, refuse};

const INT: u64 = u32::MAX as u64;

#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    allow(&[
        __NR_read, __NR_write, __NR_readv, __NR_writev, __NR_close, __NR_fcntl, __NR_recvfrom, __NR_sendto,
        __NR_recvmsg, __NR_sendmsg, __NR_accept4, __NR_bind, __NR_connect, __NR_getsockopt, __NR_setsockopt,
        __NR_getsockname, __NR_getpeername, __NR_shutdown, __NR_ioctl, __NR_splice, __NR_pipe2,
        __NR_epoll_ctl, __NR_epoll_pwait, __NR_epoll_create1, __NR_eventfd2, __NR_ppoll,
        __NR_clone, __NR_set_robust_list, __NR_rseq, __NR_sched_getaffinity, __NR_sched_yield, __NR_prctl,
        __NR_futex, __NR_clock_gettime, __NR_clock_nanosleep, __NR_nanosleep, __NR_getrandom,
        __NR_mmap, __NR_munmap, __NR_mremap, __NR_mprotect, __NR_brk, __NR_madvise,
        __NR_rt_sigaction, __NR_rt_sigprocmask, __NR_rt_sigreturn, __NR_sigaltstack,
        __NR_exit, __NR_exit_group, __NR_getpid, __NR_gettid, __NR_tgkill,
    ], &[&[]]),
    #[cfg(target_arch = "x86_64")]
    allow(&[__NR_epoll_wait, __NR_poll], &[&[]]),
    // The C library takes clone where there is no clone3, whose flags no filter sees.
    refuse(libc::ENOSYS as u16, &[__NR_clone3], &[&[]]),
    allow(&[__NR_socket], &[
        &[bits(0, INT, libc::AF_INET as u64)],
        &[bits(0, INT, libc::AF_INET6 as u64)],
        &[bits(0, INT, libc::AF_NETLINK as u64)],
    ]),
];
