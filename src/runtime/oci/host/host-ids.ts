/** Slots whose uid ranges are not free: used by processes, or delegated by the host. */
import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { limits } from '../../../model/limits.ts';
import { isGone, readNow } from './files.ts';
import { type Hierarchy, memoryHierarchy, parseHierarchies } from './hierarchies.ts';
import { indexOfUid } from './plan.ts';

const readsPerTurn = 64;
/** Name of the cgroup of an instance's machines; that of its helpers has another. */
const machinesGroup = /^sandhaven-[0-9a-z]{6}$/;
/** Of this host; read once, since the list of mounts has two for each slot. */
let memoryOfHost: Hierarchy | null = null;

/**
 * Slots whose ids any process has, as real, effective, saved or file system user. Ids of a user namespace cannot leave
 * its range, so a process shows its slot whatever it does. Reads every process of the host.
 */
export async function slotsWithProcesses(): Promise<Set<number>> {
  return slotsOf(processesOfHost());
}

/**
 * Slots whose ids a process outside all machines' cgroups has; this costs nothing per machine. For slots whose machine
 * and cgroup are known to be gone: only such a stranger can have their ids.
 */
export async function slotsWithStrangers(): Promise<Set<number>> {
  memoryOfHost ??= memoryHierarchy(parseHierarchies(readFileSync('/proc/self/mountinfo', 'utf8')));
  if (memoryOfHost === null) return slotsWithProcesses();
  const pids: string[] = [];
  const groups = [memoryOfHost.mountpoint];
  let reads = 0;
  for (let group = groups.pop(); group !== undefined; group = groups.pop()) {
    if (++reads % readsPerTurn === 0) await nextTurn();
    // A process of another process namespace has the number 0 here, and no entry in /proc.
    pids.push(...pidsOf(group).filter((pid) => pid !== '' && pid !== '0'));
    for (const name of childrenOf(group)) if (!machinesGroup.test(name)) groups.push(`${group}/${name}`);
  }
  return slotsOf(pids);
}

/** A process of the host with the ids of a slot. */
export interface SlotProcess {
  pid: number;
  /** Its cgroups, also of one that is removed while the process ends. */
  groups: string;
}

/** Processes with ids of these slots, unless they have ended meanwhile. */
export async function processesIn(slots: readonly number[]): Promise<SlotProcess[]> {
  const found: SlotProcess[] = [];
  await eachSlot(processesOfHost(), (index, pid) => {
    const groups = slots.includes(index) ? readNow(`/proc/${pid}/cgroup`) : null;
    if (groups !== null && found.at(-1)?.pid !== pid) found.push({ pid, groups });
  });
  return found;
}

/** Slots with an id that is delegated to a user of the host, for rootless containers. */
export function delegatedSlots(): Set<number> {
  return new Set(['/etc/subuid', '/etc/subgid'].flatMap((path) => slotsInDelegations(readNow(path) ?? '')));
}

/** @param table Lines of `user:first id:count`, the format of subuid(5). */
export function slotsInDelegations(table: string): number[] {
  return table.split('\n').flatMap((line) => {
    const [, first, count] = /^[^:#]+:(\d+):(\d+)\s*$/.exec(line)?.map(Number) ?? [];
    if (first === undefined || !count) return [];
    const from = Math.max(indexOfUid(first), 0);
    const to = Math.min(indexOfUid(first + count - 1), limits.network.slots - 1);
    return Array.from({ length: Math.max(to - from + 1, 0) }, (_, i) => from + i);
  });
}

function processesOfHost(): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
}

async function slotsOf(processes: string[]): Promise<Set<number>> {
  const busy = new Set<number>();
  await eachSlot(processes, (index) => busy.add(index));
  return busy;
}

/**
 * Visits each id of each process, one process after the other. Leaves threads of the kernel out: they have no ids but 0, and
 * with each machine there are more.
 */
async function eachSlot(processes: string[], visit: (index: number, pid: number) => void): Promise<void> {
  const ofKernel = kernelThreads();
  const pids = processes.filter((pid) => !ofKernel.has(pid));
  for (const [i, pid] of pids.entries()) {
    if (i % readsPerTurn === 0) await nextTurn();
    for (const index of slotsInStatus(readNow(`/proc/${pid}/status`) ?? '')) visit(index, Number(pid));
  }
}

/**
 * Counts a zombie only while one of its threads lives. Without one it only waits for its parent to reap it: in a
 * container whose first process does not reap, it stays for good and uses nothing.
 * @param status Content of /proc/PID/status; empty for a process that has ended.
 */
export function slotsInStatus(status: string): number[] {
  const threads = Number(/^Threads:\s+(\d+)$/m.exec(status)?.[1] ?? 1);
  if (/^State:\s+[ZX]/m.test(status) && threads <= 1) return [];
  const uids = /^Uid:\s+(.*)$/m.exec(status)?.[1]?.split(/\s+/) ?? [];
  return uids.map((uid) => indexOfUid(Number(uid))).filter((index) => index >= 0);
}

/** Returns none for a threaded cgroup, whose processes its parent lists. */
function pidsOf(group: string): string[] {
  try {
    return (readNow(`${group}/cgroup.procs`) ?? '').split('\n');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EOPNOTSUPP' || code === 'ENOTSUP') return [];
    throw error;
  }
}

function childrenOf(group: string): string[] {
  try {
    return readdirSync(group, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

/** Flag in /proc/PID/stat that no program can have (PF_KTHREAD). */
const KERNEL_THREAD = 0x20_0000;
/** The thread that makes all others, where the host's processes are in sight. */
const MAKER = '/proc/2';

/** Those of the last look. Each is examined once: its number is not free as long as the maker lists it. */
let knownThreads = new Set<string>();

/**
 * Returns the process ids of the kernel's own threads, of which each mounted file system has some; none where the host's are out of
 * sight, or the kernel lists no children. They hold for a list of processes that was read before: a process whose number a thread
 * of the kernel has now is gone.
 */
export function kernelThreads(): Set<string> {
  const children = isKernelThread(MAKER) ? (readNow(`${MAKER}/task/2/children`) ?? '') : '';
  // The kernel starts programs of the host as children of the maker, too.
  const threads = children
    .split(' ')
    .filter((pid) => pid !== '' && (knownThreads.has(pid) || isKernelThread(`/proc/${pid}`)));
  knownThreads = new Set(threads);
  return knownThreads;
}

function isKernelThread(process: string): boolean {
  const stat = readNow(`${process}/stat`) ?? '';
  // The name, in brackets, is the process's own choice.
  const flags = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[6];
  return (Number(flags ?? 0) & KERNEL_THREAD) !== 0;
}
