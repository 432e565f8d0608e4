/**
 * Calls that answer as on a kernel without them, since programs have a way round for that and often none for a missing right:
 * runc gives up on keys at any other error, libnuma and systemd on their own. Those that need a right on every kernel are on no
 * list, and answer as without it. `docs/internals/system-calls.md` has each with its reason.
 */
import { type SeccompRule, words } from './rule.ts';

const ENOSYS = 38;

/** clone3 keeps its flags in memory, which no filter can read; the C libraries fall back to clone. */
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

export function withoutCalls(x64: boolean): SeccompRule {
  const names = x64 ? [...lacking, ...lackingOnX64] : lacking;
  return { names, action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS };
}
