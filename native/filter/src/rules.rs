//! Made by `make generate` from src/runtime/oci/machine/seccomp.ts and masked-paths.ts. Do not edit.

use linux_raw_sys::general::*;

use crate::rule::{Condition, Rule, allow, refuse};

/// Hidden in /proc and /sys, where the host has them.
pub const MASKED_PATHS: &[&str] = &[
        "/proc/acpi", "/proc/asound", "/proc/fs", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
        "/proc/sched_debug", "/proc/scsi", "/proc/timer_list", "/proc/timer_stats", "/proc/cmdline",
        "/proc/diskstats", "/proc/locks", "/proc/modules", "/proc/partitions", "/proc/swaps",
        "/proc/buddyinfo", "/proc/interrupts", "/proc/key-users", "/proc/pressure", "/proc/schedstat",
        "/proc/softirqs", "/proc/zoneinfo", "/proc/sys/fs/aio-nr", "/proc/sys/fs/dentry-state",
        "/proc/sys/fs/file-nr", "/proc/sys/fs/inode-nr", "/proc/sys/fs/inode-state",
        "/proc/sys/kernel/pty/nr", "/sys/block", "/sys/class/block", "/sys/dev/block",
        "/sys/devices/virtual/block", "/sys/class/bdi", "/sys/devices/virtual/bdi", "/sys/class/dmi",
        "/sys/devices/virtual/dmi", "/sys/class/hwmon", "/sys/class/thermal", "/sys/devices/virtual/powercap",
        "/sys/devices/virtual/thermal", "/sys/devices/virtual/workqueue", "/sys/kernel/irq", "/sys/firmware",
];

#[cfg(target_arch = "x86_64")]
pub const RULES: &[Rule] = &[
    allow(&[
        __NR_accept, __NR_accept4, __NR_adjtimex, __NR_bind, __NR_brk, __NR_capget, __NR_capset, __NR_chdir,
        __NR_chroot, __NR_clock_adjtime, __NR_clock_getres, __NR_clock_gettime, __NR_clock_nanosleep,
        __NR_close, __NR_connect, __NR_copy_file_range, __NR_dup, __NR_dup3, __NR_epoll_create1,
        __NR_epoll_ctl, __NR_epoll_pwait, __NR_epoll_pwait2, __NR_eventfd2, __NR_execve, __NR_execveat,
        __NR_exit, __NR_exit_group, __NR_faccessat, __NR_faccessat2, __NR_fadvise64, __NR_fallocate,
        __NR_fchdir, __NR_fchmod, __NR_fchmodat, __NR_fchmodat2, __NR_fchown, __NR_fchownat, __NR_fcntl,
        __NR_fdatasync, __NR_fgetxattr, __NR_flistxattr, __NR_flock, __NR_fremovexattr, __NR_fsetxattr,
        __NR_fstat, __NR_fstatfs, __NR_fsync, __NR_ftruncate, __NR_futex, __NR_futex_requeue, __NR_futex_wait,
        __NR_futex_waitv, __NR_futex_wake, __NR_get_robust_list, __NR_getcpu, __NR_getcwd, __NR_getdents64,
        __NR_getegid, __NR_geteuid, __NR_getgid, __NR_getgroups, __NR_getitimer, __NR_getpeername,
        __NR_getpgid, __NR_getpid, __NR_getppid, __NR_getpriority, __NR_getrandom, __NR_getresgid,
        __NR_getresuid, __NR_getrusage, __NR_getsid, __NR_getsockname, __NR_getsockopt, __NR_gettid,
        __NR_gettimeofday, __NR_getuid, __NR_getxattr, __NR_getxattrat, __NR_inotify_add_watch,
        __NR_inotify_init1, __NR_inotify_rm_watch, __NR_ioctl, __NR_ioprio_get, __NR_kill,
        __NR_landlock_add_rule, __NR_landlock_create_ruleset, __NR_landlock_restrict_self, __NR_lgetxattr,
        __NR_linkat, __NR_listen, __NR_listmount, __NR_listxattr, __NR_listxattrat, __NR_llistxattr,
        __NR_lremovexattr, __NR_lseek, __NR_lsetxattr, __NR_madvise, __NR_membarrier, __NR_memfd_create,
        __NR_mkdirat, __NR_mknodat, __NR_mlock, __NR_mlock2, __NR_mlockall, __NR_mmap, __NR_mprotect,
        __NR_mq_getsetattr, __NR_mq_notify, __NR_mq_open, __NR_mq_timedreceive, __NR_mq_timedsend,
        __NR_mq_unlink, __NR_mremap, __NR_mseal, __NR_msgctl, __NR_msgget, __NR_msgrcv, __NR_msgsnd,
        __NR_msync, __NR_munlock, __NR_munlockall, __NR_munmap, __NR_nanosleep, __NR_newfstatat, __NR_openat,
        __NR_openat2, __NR_pidfd_getfd, __NR_pidfd_open, __NR_pidfd_send_signal, __NR_pipe2, __NR_pkey_alloc,
        __NR_pkey_free, __NR_pkey_mprotect, __NR_ppoll, __NR_pread64, __NR_preadv, __NR_process_mrelease,
        __NR_process_vm_readv, __NR_process_vm_writev, __NR_pselect6, __NR_ptrace, __NR_pwrite64,
        __NR_pwritev, __NR_pwritev2, __NR_read, __NR_readahead, __NR_readlinkat, __NR_readv, __NR_recvfrom,
        __NR_recvmmsg, __NR_recvmsg, __NR_remap_file_pages, __NR_removexattr, __NR_removexattrat,
        __NR_renameat, __NR_renameat2, __NR_restart_syscall, __NR_rseq, __NR_rt_sigaction, __NR_rt_sigpending,
        __NR_rt_sigprocmask, __NR_rt_sigqueueinfo, __NR_rt_sigreturn, __NR_rt_sigsuspend,
        __NR_rt_sigtimedwait, __NR_rt_tgsigqueueinfo, __NR_sched_get_priority_max,
        __NR_sched_get_priority_min, __NR_sched_getaffinity, __NR_sched_getattr, __NR_sched_getparam,
        __NR_sched_getscheduler, __NR_sched_rr_get_interval, __NR_sched_yield, __NR_semctl, __NR_semget,
        __NR_semop, __NR_semtimedop, __NR_sendfile, __NR_sendmmsg, __NR_sendmsg, __NR_sendto,
        __NR_set_robust_list, __NR_set_tid_address, __NR_setfsgid, __NR_setfsuid, __NR_setgid, __NR_setgroups,
        __NR_setitimer, __NR_setpgid, __NR_setregid, __NR_setresgid, __NR_setresuid, __NR_setreuid,
        __NR_setsid, __NR_setuid, __NR_setxattr, __NR_setxattrat, __NR_shmat, __NR_shmctl, __NR_shmdt,
        __NR_shmget, __NR_shutdown, __NR_sigaltstack, __NR_signalfd4, __NR_splice, __NR_statfs,
        __NR_statmount, __NR_statx, __NR_symlinkat, __NR_sync, __NR_sync_file_range, __NR_syncfs,
        __NR_sysinfo, __NR_tee, __NR_tgkill, __NR_timer_create, __NR_timer_delete, __NR_timer_getoverrun,
        __NR_timer_gettime, __NR_timer_settime, __NR_timerfd_create, __NR_timerfd_gettime,
        __NR_timerfd_settime, __NR_times, __NR_tkill, __NR_truncate, __NR_umask, __NR_uname, __NR_unlinkat,
        __NR_utimensat, __NR_vmsplice, __NR_wait4, __NR_waitid, __NR_write, __NR_writev, __NR_access,
        __NR_alarm, __NR_arch_prctl, __NR_chmod, __NR_chown, __NR_creat, __NR_dup2, __NR_epoll_create,
        __NR_epoll_wait, __NR_eventfd, __NR_fork, __NR_futimesat, __NR_getdents, __NR_getpgrp, __NR_getrlimit,
        __NR_inotify_init, __NR_lchown, __NR_link, __NR_lstat, __NR_map_shadow_stack, __NR_mkdir, __NR_mknod,
        __NR_open, __NR_pause, __NR_pipe, __NR_poll, __NR_readlink, __NR_rename, __NR_rmdir, __NR_select,
        __NR_setrlimit, __NR_signalfd, __NR_stat, __NR_symlink, __NR_time, __NR_unlink, __NR_uretprobe,
        __NR_utime, __NR_utimes, __NR_vfork,
    ], &[]),
    allow(&[__NR_socket], &[Condition { index: 0, mask: 0xffffffff, bits: 0x1 }]),
    allow(&[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x2 }, Condition { index: 2, mask: 0xffffffff, bits: 0x0 }]),
    allow(&[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x2 }, Condition { index: 2, mask: 0xffffffff, bits: 0x6 }]),
    allow(&[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x2 }, Condition { index: 2, mask: 0xffffffff, bits: 0x11 }]),
    allow(&[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x2 }, Condition { index: 2, mask: 0xffffffff, bits: 0x1 }]),
    allow(&[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0xa }, Condition { index: 2, mask: 0xffffffff, bits: 0x0 }]),
    allow(&[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0xa }, Condition { index: 2, mask: 0xffffffff, bits: 0x6 }]),
    allow(&[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0xa }, Condition { index: 2, mask: 0xffffffff, bits: 0x11 }]),
    allow(&[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0xa }, Condition { index: 2, mask: 0xffffffff, bits: 0x3a }]),
    allow(&[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x10 }, Condition { index: 2, mask: 0xffffffff, bits: 0x0 }]),
    refuse(93, &[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x2 }, Condition { index: 2, mask: 0xffffffff, bits: 0x21 }]),
    refuse(93, &[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x2 }, Condition { index: 2, mask: 0xffffffff, bits: 0x84 }]),
    refuse(93, &[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x2 }, Condition { index: 2, mask: 0xffffffff, bits: 0x88 }]),
    refuse(93, &[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x2 }, Condition { index: 2, mask: 0xffffffff, bits: 0x106 }]),
    refuse(93, &[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0xa }, Condition { index: 2, mask: 0xffffffff, bits: 0x21 }]),
    refuse(93, &[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0xa }, Condition { index: 2, mask: 0xffffffff, bits: 0x84 }]),
    refuse(93, &[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0xa }, Condition { index: 2, mask: 0xffffffff, bits: 0x88 }]),
    refuse(93, &[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0xa }, Condition { index: 2, mask: 0xffffffff, bits: 0x106 }]),
    refuse(93, &[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x10 }, Condition { index: 2, mask: 0xffffffff, bits: 0x1 }]),
    refuse(93, &[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x10 }, Condition { index: 2, mask: 0xfffffffe, bits: 0x2 }]),
    refuse(93, &[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x10 }, Condition { index: 2, mask: 0xfffffffc, bits: 0x4 }]),
    refuse(93, &[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x10 }, Condition { index: 2, mask: 0xfffffff8, bits: 0x8 }]),
    refuse(93, &[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x10 }, Condition { index: 2, mask: 0xfffffff0, bits: 0x10 }]),
    refuse(97, &[__NR_socket], &[Condition { index: 0, mask: 0xffffffff, bits: 0x0 }]),
    refuse(97, &[__NR_socket], &[Condition { index: 0, mask: 0xffffffff, bits: 0x3 }]),
    refuse(97, &[__NR_socket], &[Condition { index: 0, mask: 0xfffffffc, bits: 0x4 }]),
    refuse(97, &[__NR_socket], &[Condition { index: 0, mask: 0xfffffffe, bits: 0x8 }]),
    refuse(97, &[__NR_socket], &[Condition { index: 0, mask: 0xffffffff, bits: 0xb }]),
    refuse(97, &[__NR_socket], &[Condition { index: 0, mask: 0xfffffffc, bits: 0xc }]),
    refuse(97, &[__NR_socket], &[Condition { index: 0, mask: 0xfffffffe, bits: 0x12 }]),
    refuse(97, &[__NR_socket], &[Condition { index: 0, mask: 0xfffffffc, bits: 0x14 }]),
    refuse(97, &[__NR_socket], &[Condition { index: 0, mask: 0xfffffff8, bits: 0x18 }]),
    refuse(97, &[__NR_socket], &[Condition { index: 0, mask: 0xffffffe0, bits: 0x20 }]),
    allow(&[__NR_socketpair], &[Condition { index: 0, mask: 0xffffffff, bits: 0x1 }]),
    allow(&[__NR_personality], &[Condition { index: 0, mask: 0xffffffff, bits: 0x0 }]),
    allow(&[__NR_personality], &[Condition { index: 0, mask: 0xffffffff, bits: 0x8 }]),
    allow(&[__NR_personality], &[Condition { index: 0, mask: 0xffffffff, bits: 0x20000 }]),
    allow(&[__NR_personality], &[Condition { index: 0, mask: 0xffffffff, bits: 0x20008 }]),
    allow(&[__NR_personality], &[Condition { index: 0, mask: 0xffffffff, bits: 0x40000 }]),
    allow(&[__NR_personality], &[Condition { index: 0, mask: 0xffffffff, bits: 0xffffffff }]),
    allow(&[__NR_clone], &[Condition { index: 0, mask: 0x7e030400, bits: 0x0 }]),
    allow(&[__NR_clone], &[Condition { index: 0, mask: 0x7e030400, bits: 0x400 }]),
    allow(&[__NR_clone], &[Condition { index: 0, mask: 0x7e030400, bits: 0x10400 }]),
    allow(&[__NR_close_range], &[Condition { index: 2, mask: 0x2, bits: 0x0 }]),
    refuse(22, &[__NR_close_range], &[Condition { index: 2, mask: 0x2, bits: 0x2 }]),
    refuse(38, &[__NR_mincore, __NR_cachestat], &[]),
    allow(&[__NR_preadv2], &[Condition { index: 5, mask: 0x8, bits: 0x0 }]),
    refuse(95, &[__NR_preadv2], &[Condition { index: 5, mask: 0x8, bits: 0x8 }]),
    refuse(38, &[__NR_seccomp], &[]),
    refuse(22, &[__NR_prctl], &[Condition { index: 0, mask: 0xffffffff, bits: 0x16 }]),
    allow(&[__NR_prctl], &[Condition { index: 0, mask: 0xffffffff, bits: 0x41555856 }]),
    allow(&[__NR_prctl], &[Condition { index: 0, mask: 0xffffffff, bits: 0x53564d41 }]),
    allow(&[__NR_prctl], &[Condition { index: 0, mask: 0xffffffff, bits: 0x59616d61 }]),
    allow(&[__NR_prctl], &[Condition { index: 0, mask: 0xfffffff0, bits: 0x0 }]),
    allow(&[__NR_prctl], &[Condition { index: 0, mask: 0xfffffffc, bits: 0x10 }]),
    allow(&[__NR_prctl], &[Condition { index: 0, mask: 0xfffffffe, bits: 0x14 }]),
    allow(&[__NR_prctl], &[Condition { index: 0, mask: 0xffffffff, bits: 0x17 }]),
    allow(&[__NR_prctl], &[Condition { index: 0, mask: 0xfffffff8, bits: 0x18 }]),
    allow(&[__NR_prctl], &[Condition { index: 0, mask: 0xffffffe0, bits: 0x20 }]),
    allow(&[__NR_prctl], &[Condition { index: 0, mask: 0xffffffc0, bits: 0x40 }]),
    refuse(92, &[
        __NR_setsockopt,
    ], &[Condition { index: 1, mask: 0xffffffff, bits: 0x1 }, Condition { index: 2, mask: 0xffffffff, bits: 0x1a }]),
    refuse(92, &[
        __NR_setsockopt,
    ], &[Condition { index: 1, mask: 0xffffffff, bits: 0x1 }, Condition { index: 2, mask: 0xffffffff, bits: 0x33 }]),
    allow(&[__NR_setsockopt], &[Condition { index: 1, mask: 0xffffffff, bits: 0x0 }]),
    allow(&[__NR_setsockopt], &[Condition { index: 1, mask: 0xffffffff, bits: 0x6 }]),
    allow(&[__NR_setsockopt], &[Condition { index: 1, mask: 0xffffffff, bits: 0x11 }]),
    allow(&[__NR_setsockopt], &[Condition { index: 1, mask: 0xffffffff, bits: 0x29 }]),
    allow(&[__NR_setsockopt], &[Condition { index: 1, mask: 0xffffffff, bits: 0x3a }]),
    allow(&[__NR_setsockopt], &[Condition { index: 1, mask: 0xffffffff, bits: 0xff }]),
    allow(&[__NR_setsockopt], &[Condition { index: 1, mask: 0xffffffff, bits: 0x10e }]),
    allow(&[__NR_setsockopt], &[Condition { index: 1, mask: 0xffffffff, bits: 0x11a }]),
    allow(&[
        __NR_setsockopt,
    ], &[Condition { index: 1, mask: 0xffffffff, bits: 0x1 }, Condition { index: 2, mask: 0xfffffff0, bits: 0x0 }]),
    allow(&[
        __NR_setsockopt,
    ], &[Condition { index: 1, mask: 0xffffffff, bits: 0x1 }, Condition { index: 2, mask: 0xfffffff8, bits: 0x10 }]),
    allow(&[
        __NR_setsockopt,
    ], &[Condition { index: 1, mask: 0xffffffff, bits: 0x1 }, Condition { index: 2, mask: 0xfffffffe, bits: 0x18 }]),
    allow(&[
        __NR_setsockopt,
    ], &[Condition { index: 1, mask: 0xffffffff, bits: 0x1 }, Condition { index: 2, mask: 0xffffffff, bits: 0x1b }]),
    allow(&[
        __NR_setsockopt,
    ], &[Condition { index: 1, mask: 0xffffffff, bits: 0x1 }, Condition { index: 2, mask: 0xfffffffc, bits: 0x1c }]),
    allow(&[
        __NR_setsockopt,
    ], &[Condition { index: 1, mask: 0xffffffff, bits: 0x1 }, Condition { index: 2, mask: 0xfffffff0, bits: 0x20 }]),
    allow(&[
        __NR_setsockopt,
    ], &[Condition { index: 1, mask: 0xffffffff, bits: 0x1 }, Condition { index: 2, mask: 0xfffffffe, bits: 0x30 }]),
    allow(&[
        __NR_setsockopt,
    ], &[Condition { index: 1, mask: 0xffffffff, bits: 0x1 }, Condition { index: 2, mask: 0xffffffff, bits: 0x32 }]),
    allow(&[
        __NR_setsockopt,
    ], &[Condition { index: 1, mask: 0xffffffff, bits: 0x1 }, Condition { index: 2, mask: 0xfffffffc, bits: 0x34 }]),
    allow(&[
        __NR_setsockopt,
    ], &[Condition { index: 1, mask: 0xffffffff, bits: 0x1 }, Condition { index: 2, mask: 0xfffffff8, bits: 0x38 }]),
    allow(&[
        __NR_setsockopt,
    ], &[Condition { index: 1, mask: 0xffffffff, bits: 0x1 }, Condition { index: 2, mask: 0xffffffc0, bits: 0x40 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x0 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x40, bits: 0x40 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x80, bits: 0x80 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x100, bits: 0x100 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x200, bits: 0x200 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x400, bits: 0x400 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x800, bits: 0x800 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x1000, bits: 0x1000 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x2000, bits: 0x2000 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x4000, bits: 0x4000 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x8000, bits: 0x8000 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x10000, bits: 0x10000 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x20000, bits: 0x20000 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x40000, bits: 0x40000 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x80000, bits: 0x80000 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x100000, bits: 0x100000 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x200000, bits: 0x200000 }]),
    allow(&[__NR_prlimit64], &[Condition { index: 2, mask: u64::MAX, bits: 0x0 }]),
    allow(&[
        __NR_setpriority,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x0 }, Condition { index: 1, mask: 0xffffffff, bits: 0x0 }]),
    allow(&[
        __NR_setpriority,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x1 }, Condition { index: 1, mask: 0xffffffff, bits: 0x0 }]),
    allow(&[
        __NR_ioprio_set,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x1 }, Condition { index: 1, mask: 0xffffffff, bits: 0x0 }]),
    allow(&[
        __NR_ioprio_set,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x2 }, Condition { index: 1, mask: 0xffffffff, bits: 0x0 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x40, bits: 0x40 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x80, bits: 0x80 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x100, bits: 0x100 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x200, bits: 0x200 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x400, bits: 0x400 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x800, bits: 0x800 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x1000, bits: 0x1000 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x2000, bits: 0x2000 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x4000, bits: 0x4000 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x8000, bits: 0x8000 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x10000, bits: 0x10000 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x20000, bits: 0x20000 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x40000, bits: 0x40000 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x80000, bits: 0x80000 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x100000, bits: 0x100000 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x200000, bits: 0x200000 }]),
    refuse(38, &[
        __NR_clone3, __NR_io_setup, __NR_io_destroy, __NR_io_submit, __NR_io_cancel, __NR_io_getevents,
        __NR_io_pgetevents, __NR_io_uring_setup, __NR_io_uring_enter, __NR_io_uring_register, __NR_add_key,
        __NR_keyctl, __NR_request_key, __NR_get_mempolicy, __NR_set_mempolicy, __NR_set_mempolicy_home_node,
        __NR_mbind, __NR_migrate_pages, __NR_move_pages, __NR_kcmp, __NR_memfd_secret, __NR_process_madvise,
        __NR_lookup_dcookie, __NR_nfsservctl, __NR_lsm_get_self_attr, __NR_lsm_list_modules,
        __NR_lsm_set_self_attr, __NR_modify_ldt, __NR_set_thread_area, __NR_get_thread_area, __NR_sysfs,
        __NR_ustat, __NR_uselib, __NR__sysctl, __NR_create_module, __NR_get_kernel_syms, __NR_query_module,
        __NR_getpmsg, __NR_putpmsg, __NR_afs_syscall, __NR_tuxcall, __NR_security, __NR_vserver,
        __NR_epoll_ctl_old, __NR_epoll_wait_old,
    ], &[]),
];

#[cfg(target_arch = "aarch64")]
pub const RULES: &[Rule] = &[
    allow(&[
        __NR_accept, __NR_accept4, __NR_adjtimex, __NR_bind, __NR_brk, __NR_capget, __NR_capset, __NR_chdir,
        __NR_chroot, __NR_clock_adjtime, __NR_clock_getres, __NR_clock_gettime, __NR_clock_nanosleep,
        __NR_close, __NR_connect, __NR_copy_file_range, __NR_dup, __NR_dup3, __NR_epoll_create1,
        __NR_epoll_ctl, __NR_epoll_pwait, __NR_epoll_pwait2, __NR_eventfd2, __NR_execve, __NR_execveat,
        __NR_exit, __NR_exit_group, __NR_faccessat, __NR_faccessat2, __NR_fadvise64, __NR_fallocate,
        __NR_fchdir, __NR_fchmod, __NR_fchmodat, __NR_fchmodat2, __NR_fchown, __NR_fchownat, __NR_fcntl,
        __NR_fdatasync, __NR_fgetxattr, __NR_flistxattr, __NR_flock, __NR_fremovexattr, __NR_fsetxattr,
        __NR_fstat, __NR_fstatfs, __NR_fsync, __NR_ftruncate, __NR_futex, __NR_futex_requeue, __NR_futex_wait,
        __NR_futex_waitv, __NR_futex_wake, __NR_get_robust_list, __NR_getcpu, __NR_getcwd, __NR_getdents64,
        __NR_getegid, __NR_geteuid, __NR_getgid, __NR_getgroups, __NR_getitimer, __NR_getpeername,
        __NR_getpgid, __NR_getpid, __NR_getppid, __NR_getpriority, __NR_getrandom, __NR_getresgid,
        __NR_getresuid, __NR_getrusage, __NR_getsid, __NR_getsockname, __NR_getsockopt, __NR_gettid,
        __NR_gettimeofday, __NR_getuid, __NR_getxattr, __NR_getxattrat, __NR_inotify_add_watch,
        __NR_inotify_init1, __NR_inotify_rm_watch, __NR_ioctl, __NR_ioprio_get, __NR_kill,
        __NR_landlock_add_rule, __NR_landlock_create_ruleset, __NR_landlock_restrict_self, __NR_lgetxattr,
        __NR_linkat, __NR_listen, __NR_listmount, __NR_listxattr, __NR_listxattrat, __NR_llistxattr,
        __NR_lremovexattr, __NR_lseek, __NR_lsetxattr, __NR_madvise, __NR_membarrier, __NR_memfd_create,
        __NR_mkdirat, __NR_mknodat, __NR_mlock, __NR_mlock2, __NR_mlockall, __NR_mmap, __NR_mprotect,
        __NR_mq_getsetattr, __NR_mq_notify, __NR_mq_open, __NR_mq_timedreceive, __NR_mq_timedsend,
        __NR_mq_unlink, __NR_mremap, __NR_mseal, __NR_msgctl, __NR_msgget, __NR_msgrcv, __NR_msgsnd,
        __NR_msync, __NR_munlock, __NR_munlockall, __NR_munmap, __NR_nanosleep, __NR_newfstatat, __NR_openat,
        __NR_openat2, __NR_pidfd_getfd, __NR_pidfd_open, __NR_pidfd_send_signal, __NR_pipe2, __NR_pkey_alloc,
        __NR_pkey_free, __NR_pkey_mprotect, __NR_ppoll, __NR_pread64, __NR_preadv, __NR_process_mrelease,
        __NR_process_vm_readv, __NR_process_vm_writev, __NR_pselect6, __NR_ptrace, __NR_pwrite64,
        __NR_pwritev, __NR_pwritev2, __NR_read, __NR_readahead, __NR_readlinkat, __NR_readv, __NR_recvfrom,
        __NR_recvmmsg, __NR_recvmsg, __NR_remap_file_pages, __NR_removexattr, __NR_removexattrat,
        __NR_renameat, __NR_renameat2, __NR_restart_syscall, __NR_rseq, __NR_rt_sigaction, __NR_rt_sigpending,
        __NR_rt_sigprocmask, __NR_rt_sigqueueinfo, __NR_rt_sigreturn, __NR_rt_sigsuspend,
        __NR_rt_sigtimedwait, __NR_rt_tgsigqueueinfo, __NR_sched_get_priority_max,
        __NR_sched_get_priority_min, __NR_sched_getaffinity, __NR_sched_getattr, __NR_sched_getparam,
        __NR_sched_getscheduler, __NR_sched_rr_get_interval, __NR_sched_yield, __NR_semctl, __NR_semget,
        __NR_semop, __NR_semtimedop, __NR_sendfile, __NR_sendmmsg, __NR_sendmsg, __NR_sendto,
        __NR_set_robust_list, __NR_set_tid_address, __NR_setfsgid, __NR_setfsuid, __NR_setgid, __NR_setgroups,
        __NR_setitimer, __NR_setpgid, __NR_setregid, __NR_setresgid, __NR_setresuid, __NR_setreuid,
        __NR_setsid, __NR_setuid, __NR_setxattr, __NR_setxattrat, __NR_shmat, __NR_shmctl, __NR_shmdt,
        __NR_shmget, __NR_shutdown, __NR_sigaltstack, __NR_signalfd4, __NR_splice, __NR_statfs,
        __NR_statmount, __NR_statx, __NR_symlinkat, __NR_sync, __NR_sync_file_range, __NR_syncfs,
        __NR_sysinfo, __NR_tee, __NR_tgkill, __NR_timer_create, __NR_timer_delete, __NR_timer_getoverrun,
        __NR_timer_gettime, __NR_timer_settime, __NR_timerfd_create, __NR_timerfd_gettime,
        __NR_timerfd_settime, __NR_times, __NR_tkill, __NR_truncate, __NR_umask, __NR_uname, __NR_unlinkat,
        __NR_utimensat, __NR_vmsplice, __NR_wait4, __NR_waitid, __NR_write, __NR_writev,
    ], &[]),
    allow(&[__NR_socket], &[Condition { index: 0, mask: 0xffffffff, bits: 0x1 }]),
    allow(&[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x2 }, Condition { index: 2, mask: 0xffffffff, bits: 0x0 }]),
    allow(&[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x2 }, Condition { index: 2, mask: 0xffffffff, bits: 0x6 }]),
    allow(&[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x2 }, Condition { index: 2, mask: 0xffffffff, bits: 0x11 }]),
    allow(&[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x2 }, Condition { index: 2, mask: 0xffffffff, bits: 0x1 }]),
    allow(&[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0xa }, Condition { index: 2, mask: 0xffffffff, bits: 0x0 }]),
    allow(&[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0xa }, Condition { index: 2, mask: 0xffffffff, bits: 0x6 }]),
    allow(&[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0xa }, Condition { index: 2, mask: 0xffffffff, bits: 0x11 }]),
    allow(&[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0xa }, Condition { index: 2, mask: 0xffffffff, bits: 0x3a }]),
    allow(&[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x10 }, Condition { index: 2, mask: 0xffffffff, bits: 0x0 }]),
    refuse(93, &[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x2 }, Condition { index: 2, mask: 0xffffffff, bits: 0x21 }]),
    refuse(93, &[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x2 }, Condition { index: 2, mask: 0xffffffff, bits: 0x84 }]),
    refuse(93, &[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x2 }, Condition { index: 2, mask: 0xffffffff, bits: 0x88 }]),
    refuse(93, &[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x2 }, Condition { index: 2, mask: 0xffffffff, bits: 0x106 }]),
    refuse(93, &[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0xa }, Condition { index: 2, mask: 0xffffffff, bits: 0x21 }]),
    refuse(93, &[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0xa }, Condition { index: 2, mask: 0xffffffff, bits: 0x84 }]),
    refuse(93, &[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0xa }, Condition { index: 2, mask: 0xffffffff, bits: 0x88 }]),
    refuse(93, &[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0xa }, Condition { index: 2, mask: 0xffffffff, bits: 0x106 }]),
    refuse(93, &[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x10 }, Condition { index: 2, mask: 0xffffffff, bits: 0x1 }]),
    refuse(93, &[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x10 }, Condition { index: 2, mask: 0xfffffffe, bits: 0x2 }]),
    refuse(93, &[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x10 }, Condition { index: 2, mask: 0xfffffffc, bits: 0x4 }]),
    refuse(93, &[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x10 }, Condition { index: 2, mask: 0xfffffff8, bits: 0x8 }]),
    refuse(93, &[
        __NR_socket,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x10 }, Condition { index: 2, mask: 0xfffffff0, bits: 0x10 }]),
    refuse(97, &[__NR_socket], &[Condition { index: 0, mask: 0xffffffff, bits: 0x0 }]),
    refuse(97, &[__NR_socket], &[Condition { index: 0, mask: 0xffffffff, bits: 0x3 }]),
    refuse(97, &[__NR_socket], &[Condition { index: 0, mask: 0xfffffffc, bits: 0x4 }]),
    refuse(97, &[__NR_socket], &[Condition { index: 0, mask: 0xfffffffe, bits: 0x8 }]),
    refuse(97, &[__NR_socket], &[Condition { index: 0, mask: 0xffffffff, bits: 0xb }]),
    refuse(97, &[__NR_socket], &[Condition { index: 0, mask: 0xfffffffc, bits: 0xc }]),
    refuse(97, &[__NR_socket], &[Condition { index: 0, mask: 0xfffffffe, bits: 0x12 }]),
    refuse(97, &[__NR_socket], &[Condition { index: 0, mask: 0xfffffffc, bits: 0x14 }]),
    refuse(97, &[__NR_socket], &[Condition { index: 0, mask: 0xfffffff8, bits: 0x18 }]),
    refuse(97, &[__NR_socket], &[Condition { index: 0, mask: 0xffffffe0, bits: 0x20 }]),
    allow(&[__NR_socketpair], &[Condition { index: 0, mask: 0xffffffff, bits: 0x1 }]),
    allow(&[__NR_personality], &[Condition { index: 0, mask: 0xffffffff, bits: 0x0 }]),
    allow(&[__NR_personality], &[Condition { index: 0, mask: 0xffffffff, bits: 0x8 }]),
    allow(&[__NR_personality], &[Condition { index: 0, mask: 0xffffffff, bits: 0x20000 }]),
    allow(&[__NR_personality], &[Condition { index: 0, mask: 0xffffffff, bits: 0x20008 }]),
    allow(&[__NR_personality], &[Condition { index: 0, mask: 0xffffffff, bits: 0x40000 }]),
    allow(&[__NR_personality], &[Condition { index: 0, mask: 0xffffffff, bits: 0xffffffff }]),
    allow(&[__NR_clone], &[Condition { index: 0, mask: 0x7e030400, bits: 0x0 }]),
    allow(&[__NR_clone], &[Condition { index: 0, mask: 0x7e030400, bits: 0x400 }]),
    allow(&[__NR_clone], &[Condition { index: 0, mask: 0x7e030400, bits: 0x10400 }]),
    allow(&[__NR_close_range], &[Condition { index: 2, mask: 0x2, bits: 0x0 }]),
    refuse(22, &[__NR_close_range], &[Condition { index: 2, mask: 0x2, bits: 0x2 }]),
    refuse(38, &[__NR_mincore, __NR_cachestat], &[]),
    allow(&[__NR_preadv2], &[Condition { index: 5, mask: 0x8, bits: 0x0 }]),
    refuse(95, &[__NR_preadv2], &[Condition { index: 5, mask: 0x8, bits: 0x8 }]),
    refuse(38, &[__NR_seccomp], &[]),
    refuse(22, &[__NR_prctl], &[Condition { index: 0, mask: 0xffffffff, bits: 0x16 }]),
    allow(&[__NR_prctl], &[Condition { index: 0, mask: 0xffffffff, bits: 0x41555856 }]),
    allow(&[__NR_prctl], &[Condition { index: 0, mask: 0xffffffff, bits: 0x53564d41 }]),
    allow(&[__NR_prctl], &[Condition { index: 0, mask: 0xffffffff, bits: 0x59616d61 }]),
    allow(&[__NR_prctl], &[Condition { index: 0, mask: 0xfffffff0, bits: 0x0 }]),
    allow(&[__NR_prctl], &[Condition { index: 0, mask: 0xfffffffc, bits: 0x10 }]),
    allow(&[__NR_prctl], &[Condition { index: 0, mask: 0xfffffffe, bits: 0x14 }]),
    allow(&[__NR_prctl], &[Condition { index: 0, mask: 0xffffffff, bits: 0x17 }]),
    allow(&[__NR_prctl], &[Condition { index: 0, mask: 0xfffffff8, bits: 0x18 }]),
    allow(&[__NR_prctl], &[Condition { index: 0, mask: 0xffffffe0, bits: 0x20 }]),
    allow(&[__NR_prctl], &[Condition { index: 0, mask: 0xffffffc0, bits: 0x40 }]),
    refuse(92, &[
        __NR_setsockopt,
    ], &[Condition { index: 1, mask: 0xffffffff, bits: 0x1 }, Condition { index: 2, mask: 0xffffffff, bits: 0x1a }]),
    refuse(92, &[
        __NR_setsockopt,
    ], &[Condition { index: 1, mask: 0xffffffff, bits: 0x1 }, Condition { index: 2, mask: 0xffffffff, bits: 0x33 }]),
    allow(&[__NR_setsockopt], &[Condition { index: 1, mask: 0xffffffff, bits: 0x0 }]),
    allow(&[__NR_setsockopt], &[Condition { index: 1, mask: 0xffffffff, bits: 0x6 }]),
    allow(&[__NR_setsockopt], &[Condition { index: 1, mask: 0xffffffff, bits: 0x11 }]),
    allow(&[__NR_setsockopt], &[Condition { index: 1, mask: 0xffffffff, bits: 0x29 }]),
    allow(&[__NR_setsockopt], &[Condition { index: 1, mask: 0xffffffff, bits: 0x3a }]),
    allow(&[__NR_setsockopt], &[Condition { index: 1, mask: 0xffffffff, bits: 0xff }]),
    allow(&[__NR_setsockopt], &[Condition { index: 1, mask: 0xffffffff, bits: 0x10e }]),
    allow(&[__NR_setsockopt], &[Condition { index: 1, mask: 0xffffffff, bits: 0x11a }]),
    allow(&[
        __NR_setsockopt,
    ], &[Condition { index: 1, mask: 0xffffffff, bits: 0x1 }, Condition { index: 2, mask: 0xfffffff0, bits: 0x0 }]),
    allow(&[
        __NR_setsockopt,
    ], &[Condition { index: 1, mask: 0xffffffff, bits: 0x1 }, Condition { index: 2, mask: 0xfffffff8, bits: 0x10 }]),
    allow(&[
        __NR_setsockopt,
    ], &[Condition { index: 1, mask: 0xffffffff, bits: 0x1 }, Condition { index: 2, mask: 0xfffffffe, bits: 0x18 }]),
    allow(&[
        __NR_setsockopt,
    ], &[Condition { index: 1, mask: 0xffffffff, bits: 0x1 }, Condition { index: 2, mask: 0xffffffff, bits: 0x1b }]),
    allow(&[
        __NR_setsockopt,
    ], &[Condition { index: 1, mask: 0xffffffff, bits: 0x1 }, Condition { index: 2, mask: 0xfffffffc, bits: 0x1c }]),
    allow(&[
        __NR_setsockopt,
    ], &[Condition { index: 1, mask: 0xffffffff, bits: 0x1 }, Condition { index: 2, mask: 0xfffffff0, bits: 0x20 }]),
    allow(&[
        __NR_setsockopt,
    ], &[Condition { index: 1, mask: 0xffffffff, bits: 0x1 }, Condition { index: 2, mask: 0xfffffffe, bits: 0x30 }]),
    allow(&[
        __NR_setsockopt,
    ], &[Condition { index: 1, mask: 0xffffffff, bits: 0x1 }, Condition { index: 2, mask: 0xffffffff, bits: 0x32 }]),
    allow(&[
        __NR_setsockopt,
    ], &[Condition { index: 1, mask: 0xffffffff, bits: 0x1 }, Condition { index: 2, mask: 0xfffffffc, bits: 0x34 }]),
    allow(&[
        __NR_setsockopt,
    ], &[Condition { index: 1, mask: 0xffffffff, bits: 0x1 }, Condition { index: 2, mask: 0xfffffff8, bits: 0x38 }]),
    allow(&[
        __NR_setsockopt,
    ], &[Condition { index: 1, mask: 0xffffffff, bits: 0x1 }, Condition { index: 2, mask: 0xffffffc0, bits: 0x40 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x0 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x40, bits: 0x40 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x80, bits: 0x80 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x100, bits: 0x100 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x200, bits: 0x200 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x400, bits: 0x400 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x800, bits: 0x800 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x1000, bits: 0x1000 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x2000, bits: 0x2000 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x4000, bits: 0x4000 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x8000, bits: 0x8000 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x10000, bits: 0x10000 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x20000, bits: 0x20000 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x40000, bits: 0x40000 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x80000, bits: 0x80000 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x100000, bits: 0x100000 }]),
    allow(&[
        __NR_sched_setaffinity, __NR_sched_setattr, __NR_sched_setparam, __NR_sched_setscheduler,
        __NR_prlimit64,
    ], &[Condition { index: 0, mask: 0x200000, bits: 0x200000 }]),
    allow(&[__NR_prlimit64], &[Condition { index: 2, mask: u64::MAX, bits: 0x0 }]),
    allow(&[
        __NR_setpriority,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x0 }, Condition { index: 1, mask: 0xffffffff, bits: 0x0 }]),
    allow(&[
        __NR_setpriority,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x1 }, Condition { index: 1, mask: 0xffffffff, bits: 0x0 }]),
    allow(&[
        __NR_ioprio_set,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x1 }, Condition { index: 1, mask: 0xffffffff, bits: 0x0 }]),
    allow(&[
        __NR_ioprio_set,
    ], &[Condition { index: 0, mask: 0xffffffff, bits: 0x2 }, Condition { index: 1, mask: 0xffffffff, bits: 0x0 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x40, bits: 0x40 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x80, bits: 0x80 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x100, bits: 0x100 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x200, bits: 0x200 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x400, bits: 0x400 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x800, bits: 0x800 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x1000, bits: 0x1000 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x2000, bits: 0x2000 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x4000, bits: 0x4000 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x8000, bits: 0x8000 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x10000, bits: 0x10000 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x20000, bits: 0x20000 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x40000, bits: 0x40000 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x80000, bits: 0x80000 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x100000, bits: 0x100000 }]),
    allow(&[__NR_setpriority, __NR_ioprio_set], &[Condition { index: 1, mask: 0x200000, bits: 0x200000 }]),
    refuse(38, &[
        __NR_clone3, __NR_io_setup, __NR_io_destroy, __NR_io_submit, __NR_io_cancel, __NR_io_getevents,
        __NR_io_pgetevents, __NR_io_uring_setup, __NR_io_uring_enter, __NR_io_uring_register, __NR_add_key,
        __NR_keyctl, __NR_request_key, __NR_get_mempolicy, __NR_set_mempolicy, __NR_set_mempolicy_home_node,
        __NR_mbind, __NR_migrate_pages, __NR_move_pages, __NR_kcmp, __NR_memfd_secret, __NR_process_madvise,
        __NR_lookup_dcookie, __NR_nfsservctl, __NR_lsm_get_self_attr, __NR_lsm_list_modules,
        __NR_lsm_set_self_attr,
    ], &[]),
];
