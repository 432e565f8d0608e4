/**
 * Allow-list of a machine's system calls. It follows the defaults of container engines, for 64-bit programs alone,
 * and leaves out calls that attackers need and programs in a machine do not: new namespaces, the mount API, keyrings,
 * BPF, perf, userfaultfd, io_uring, file handles, secret memory, and every socket family beyond local, IPv4, IPv6 and
 * route netlink (a vsock, for one, would reach the hypervisor). IPv4 and IPv6 have TCP, UDP and echo only: other
 * protocols load kernel modules and have buffers that are charged to nobody. Old asynchronous I/O is left out because
 * the host has one bound on its slots for everybody; so are a machine's own filters.
 *
 * Every other call fails with EPERM, and one that is newer than the list with ENOSYS. Each refusal and its error are in
 * `docs/internals/system-calls.md`.
 */
import { sparingTheAgent } from './filter/agent-threads.ts';
import { allow, masked, refuse, type SeccompRule, words } from './filter/rule.ts';
import { sockets, withoutFilters } from './filter/sockets.ts';

export interface Seccomp {
  defaultAction: 'SCMP_ACT_ERRNO';
  defaultErrnoRet: number;
  architectures: string[];
  syscalls: SeccompRule[];
}

/** @param arch Value of `process.arch`. One architecture alone: each further one costs milliseconds per start. */
export function seccompRules(arch: string): Seccomp {
  const x64 = arch === 'x64';
  return {
    defaultAction: 'SCMP_ACT_ERRNO',
    defaultErrnoRet: EPERM,
    architectures: [x64 ? 'SCMP_ARCH_X86_64' : 'SCMP_ARCH_AARCH64'],
    syscalls: [
      { names: x64 ? [...common, ...x64Only] : common, action: 'SCMP_ACT_ALLOW' },
      ...sockets,
      ...personalities.map((persona) => allow('personality', masked(0, 0xffffffff, persona))),
      ...SHARED.map((flags) =>
        allow('clone', masked(0, NAMESPACE_FLAGS | CLONE_THREAD | CLONE_FILES, flags)),
      ),
      allow('close_range', masked(2, CLOSE_RANGE_UNSHARE, 0)),
      refuse('close_range', EINVAL, masked(2, CLOSE_RANGE_UNSHARE, CLOSE_RANGE_UNSHARE)),
      ...withoutPageCache,
      ...withoutFilters,
      ...sparingTheAgent(),
      { names: x64 ? [...lacking, ...lackingOnX64] : lacking, action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS },
    ],
  };
}

const EPERM = 1;
const EINVAL = 22;
const ENOSYS = 38;
const EOPNOTSUPP = 95;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const NAMESPACE_FLAGS = 0x7e020000;
const CLONE_FILES = 0x400;
const CLONE_THREAD = 0x10000;
/** Processes with descriptors of their own or shared ones, and threads with shared ones: a process has one table, which is counted. */
const SHARED = [0, CLONE_FILES, CLONE_THREAD | CLONE_FILES];
const CLOSE_RANGE_UNSHARE = 2;
/** Linux, with 32-bit addresses, both with the 2.6 version, without random addresses, and the query of the current one. */
const personalities = [0x0, 0x8, 0x20000, 0x20008, 0x40000, 0xffffffff];

/** pidfd_getfd passes the same check as ptrace: a process that may not trace another gets no descriptor of it. */
const common = words(`
  accept accept4 adjtimex bind brk capget capset chdir chroot clock_adjtime clock_getres clock_gettime
  clock_nanosleep close connect copy_file_range dup dup3 epoll_create1 epoll_ctl epoll_pwait
  epoll_pwait2 eventfd2 execve execveat exit exit_group faccessat faccessat2 fadvise64 fallocate fchdir fchmod
  fchmodat fchmodat2 fchown fchownat fcntl fdatasync fgetxattr flistxattr flock fremovexattr fsetxattr fstat
  fstatfs fsync ftruncate futex futex_requeue futex_wait futex_waitv futex_wake get_robust_list getcpu getcwd
  getdents64 getegid geteuid getgid getgroups getitimer getpeername getpgid getpid getppid getpriority getrandom
  getresgid getresuid getrusage getsid getsockname getsockopt gettid gettimeofday getuid getxattr getxattrat
  inotify_add_watch inotify_init1 inotify_rm_watch ioctl ioprio_get kill landlock_add_rule landlock_create_ruleset
  landlock_restrict_self
  lgetxattr linkat listen listmount listxattr listxattrat llistxattr lremovexattr lseek lsetxattr madvise
  membarrier memfd_create mkdirat mknodat mlock mlock2 mlockall mmap mprotect mq_getsetattr mq_notify
  mq_open mq_timedreceive mq_timedsend mq_unlink mremap mseal msgctl msgget msgrcv msgsnd msync munlock
  munlockall munmap nanosleep newfstatat openat openat2 pidfd_getfd pidfd_open pidfd_send_signal pipe2 pkey_alloc pkey_free
  pkey_mprotect ppoll pread64 preadv process_mrelease process_vm_readv
  process_vm_writev pselect6 ptrace pwrite64 pwritev pwritev2 read readahead readlinkat readv recvfrom recvmmsg
  recvmsg remap_file_pages removexattr removexattrat renameat renameat2 restart_syscall rseq rt_sigaction
  rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo
  sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr sched_getparam
  sched_getscheduler sched_rr_get_interval
  sched_yield semctl semget semop semtimedop sendfile sendmmsg sendmsg sendto set_robust_list
  set_tid_address setfsgid setfsuid setgid setgroups setitimer setpgid setregid setresgid setresuid
  setreuid setsid setuid setxattr setxattrat shmat shmctl shmdt shmget shutdown sigaltstack signalfd4
  splice statfs statmount statx symlinkat sync sync_file_range syncfs sysinfo tee tgkill timer_create
  timer_delete timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime times
  tkill truncate umask uname unlinkat utimensat vmsplice wait4 waitid write writev
`);

/** Older calls that arm64 never had, and calls of x64 alone. */
const x64Only = words(`
  access alarm arch_prctl chmod chown creat dup2 epoll_create epoll_wait eventfd fork futimesat getdents getpgrp
  getrlimit inotify_init lchown link lstat map_shadow_stack mkdir mknod open pause pipe poll readlink rename rmdir
  select setrlimit signalfd stat symlink time unlink uretprobe utime utimes vfork
`);

/**
 * Calls that fail as on a kernel without them: programs have a way round that, and often none round a missing right. At any other
 * error runc gives up on a session's keys, libnuma on a policy. Calls that need a right on every kernel are on no list, and fail
 * for the want of it. clone3 keeps its flags in memory, which no filter can read; the C libraries fall back to clone.
 */
const lacking = words(`
  clone3 io_setup io_destroy io_submit io_cancel io_getevents io_pgetevents
  io_uring_setup io_uring_enter io_uring_register
  add_key keyctl request_key
  get_mempolicy set_mempolicy set_mempolicy_home_node mbind migrate_pages move_pages
  kcmp memfd_secret process_madvise lookup_dcookie nfsservctl lsm_get_self_attr lsm_list_modules lsm_set_self_attr
`);

/** Of x64 alone. The kernel has long had most of them in name only. */
const lackingOnX64 = words(`
  modify_ldt set_thread_area get_thread_area sysfs ustat uselib _sysctl
  create_module get_kernel_syms query_module getpmsg putpmsg afs_syscall tuxcall security vserver epoll_ctl_old epoll_wait_old
`);

/** Flag of a read that fails instead of waiting for the disk. */
const RWF_NOWAIT = 0x8;
/** Argument with the flags. */
const PREADV2_FLAGS = 5;

/**
 * Queries of the page cache. Machines of one image share its files there, so the answer reveals what the others have read. Each
 * refusal is that of a kernel without the call.
 */
const withoutPageCache: SeccompRule[] = [
  { names: ['mincore', 'cachestat'], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS },
  allow('preadv2', masked(PREADV2_FLAGS, RWF_NOWAIT, 0)),
  refuse('preadv2', EOPNOTSUPP, masked(PREADV2_FLAGS, RWF_NOWAIT, RWF_NOWAIT)),
];
