//! The system calls that this program needs; every other one fails. Sockets are of the internet, or ask for routes.

use rustix::io::Errno;

#[rustfmt::skip]
const ALLOWED: &[libc::c_long] = &[
    libc::SYS_read, libc::SYS_write, libc::SYS_readv, libc::SYS_writev, libc::SYS_close, libc::SYS_fcntl,
    libc::SYS_recvfrom, libc::SYS_sendto, libc::SYS_recvmsg, libc::SYS_sendmsg, libc::SYS_accept4, libc::SYS_bind,
    libc::SYS_connect, libc::SYS_getsockopt, libc::SYS_setsockopt, libc::SYS_getsockname, libc::SYS_getpeername,
    libc::SYS_shutdown, libc::SYS_ioctl, libc::SYS_splice, libc::SYS_pipe2,
    libc::SYS_epoll_ctl, libc::SYS_epoll_pwait, libc::SYS_epoll_create1, libc::SYS_eventfd2, libc::SYS_ppoll,
    libc::SYS_clone, libc::SYS_set_robust_list, libc::SYS_rseq, libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield, libc::SYS_prctl, libc::SYS_futex, libc::SYS_clock_gettime, libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep, libc::SYS_getrandom,
    libc::SYS_mmap, libc::SYS_munmap, libc::SYS_mremap, libc::SYS_mprotect, libc::SYS_brk, libc::SYS_madvise,
    libc::SYS_rt_sigaction, libc::SYS_rt_sigprocmask, libc::SYS_rt_sigreturn, libc::SYS_sigaltstack,
    libc::SYS_exit, libc::SYS_exit_group, libc::SYS_getpid, libc::SYS_gettid, libc::SYS_tgkill,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_wait,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
];

const FAMILIES: [libc::c_int; 3] = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

/// Offsets in struct seccomp_data: number, architecture, the low half of the first argument.
const NUMBER: u32 = 0;
const MACHINE: u32 = 4;
const FIRST: u32 = 16;

/// Filters this thread and all that it starts, for good. Needs no_new_privs.
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
    let refuse = |errno: i32| one(RETURN, libc::SECCOMP_RET_ERRNO | errno as u32);
    let mut filter = vec![
        one(LOAD, MACHINE),
        jump(EQUAL, ARCHITECTURE, 1, 0),
        one(RETURN, libc::SECCOMP_RET_KILL_PROCESS),
        one(LOAD, NUMBER),
    ];
    for &number in ALLOWED {
        filter.extend([jump(EQUAL, number as u32, 0, 1), allow]);
    }
    // The C library takes clone where there is no clone3, whose flags no filter sees.
    filter.extend([
        jump(EQUAL, libc::SYS_clone3 as u32, 0, 1),
        refuse(libc::ENOSYS),
    ]);
    filter.extend([
        jump(EQUAL, libc::SYS_socket as u32, 1, 0),
        refuse(libc::EPERM),
        one(LOAD, FIRST),
    ]);
    for family in FAMILIES {
        filter.extend([jump(EQUAL, family as u32, 0, 1), allow]);
    }
    filter.push(refuse(libc::EPERM));
    filter
}

fn one(code: u16, k: u32) -> libc::sock_filter {
    jump(code, k, 0, 0)
}

fn jump(code: u16, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter { code, jt, jf, k }
}
