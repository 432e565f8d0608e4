/** Threads of the kernel's own. A file system has some of them as long as it is mounted, and so each running machine has. */
import { readNow } from './files.ts';

/** Flag in /proc/PID/stat that no program can have (PF_KTHREAD). */
const KERNEL_THREAD = 0x20_0000;
/** The thread that makes all others, where the host's processes are in sight. */
const MAKER = '/proc/2';

/** Those of the last look. Each is examined once: its number is not free as long as the maker lists it. */
let known = new Set<string>();

/**
 * Returns their process ids; none where the host's are out of sight, or the kernel lists no children. It is right for a list of
 * processes that was read before: a process whose number a thread of the kernel has now is gone.
 */
export function kernelThreads(): Set<string> {
  const children = isKernelThread(MAKER) ? (readNow(`${MAKER}/task/2/children`) ?? '') : '';
  // The kernel starts programs of the host as children of the maker, too.
  const threads = children
    .split(' ')
    .filter((pid) => pid !== '' && (known.has(pid) || isKernelThread(`/proc/${pid}`)));
  known = new Set(threads);
  return known;
}

function isKernelThread(process: string): boolean {
  const stat = readNow(`${process}/stat`) ?? '';
  // The name, in brackets, is the process's own choice.
  const flags = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[6];
  return (Number(flags ?? 0) & KERNEL_THREAD) !== 0;
}
