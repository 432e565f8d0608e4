/** Holdings: host memory that machines hold and that the kernel charges to nobody. */
import { stat } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { limits } from '../../../model/limits.ts';
import { readNow } from '../host/files.ts';
import { descriptorsOf, unlessEnded } from './listing.ts';
import { createLockCounts, type LockCensus } from './locks.ts';
import { netlinkBytes, socketCounts, unacceptedBytes } from './sockets.ts';

export interface Holding {
  netlinkBytes: number;
  unacceptedBytes: number;
  /** 0 while the whole host has few open files. */
  openFiles: number;
  /** Bytes that unexamined connections may hold beside their data. */
  unreadBytes: number;
}

export interface Found {
  /** Holdings of each machine that has processes and was measured. */
  machines: Map<string, Holding>;
  /** File locks of machines counted since the previous call, whether requested now or before. */
  locks: Map<string, number>;
}

/**
 * @param exactly Reads connection tables even of machines that cannot hold much, which is costly.
 * @param isIdle Returns true for a machine that has done nothing since it was measured: it is left out where that can be.
 */
export type Holdings = (ids: string[], exactly: boolean, isIdle: (id: string) => boolean) => Promise<Found>;

const { kernel } = limits;

/** Machines looked at without a turn of other work: one to two milliseconds. */
const PER_TURN = 32;

export function createHoldings(processesOf: (id: string) => Promise<number[]>, census: LockCensus): Holdings {
  const lockCounts = createLockCounts(processesOf, census);

  return async (ids, exactly, isIdle) => {
    if (ids.length === 0) return { machines: new Map(), locks: new Map() };
    const working = exactly ? ids : await workingOf(ids, isIdle);
    const locks = await lockCounts(ids, working.length > 0);
    const machines = new Map<string, Holding>();
    const filesAreMany = areFilesMany();
    for (const [index, id] of (filesAreMany ? ids : working).entries()) {
      // Most machines are looked at without a wait.
      if (index % PER_TURN === 0) await nextTurn();
      const processes = await processesOf(id);
      const sockets = await socketsHeld(processes, exactly);
      if (!sockets) continue;
      const openFiles = filesAreMany ? await openFilesOf(processes) : 0;
      machines.set(id, { ...sockets, openFiles });
    }
    return { machines, locks };
  };
}

async function workingOf(ids: string[], isIdle: (id: string) => boolean): Promise<string[]> {
  const working: string[] = [];
  for (const [index, id] of ids.entries()) {
    if (index % PER_TURN === 0) await nextTurn();
    if (!isIdle(id)) working.push(id);
  }
  return working;
}

/** Reads one process, since all of a machine share its network namespace. Returns null when none is left. */
async function socketsHeld(
  processes: number[],
  exactly: boolean,
): Promise<Omit<Holding, 'openFiles'> | null> {
  for (const pid of processes) {
    const counts = socketCounts(pid);
    if (counts === null) continue;
    const held = { netlinkBytes: 0, unacceptedBytes: 0, unreadBytes: 0 };
    if (counts.used <= kernel.sockets) return held;
    held.netlinkBytes = await netlinkBytes(pid);
    const empty = counts.used * kernel.connectionBytes;
    if (exactly || empty + counts.tcpBytes > kernel.uncountedBytes) {
      held.unacceptedBytes = await unacceptedBytes(pid, counts.used);
    } else held.unreadBytes = empty;
    // If the process has ended meanwhile, its tables were empty: try the next.
    if (socketCounts(pid) !== null) return held;
  }
  return null;
}

/**
 * Returns true when the host has more open files than one machine may. The kernel charges a machine for each, but nobody for the
 * objects behind some of them (epolls, timers, events): so a machine with very many holds nearly as much again.
 */
function areFilesMany(): boolean {
  const [allocated] = (readNow('/proc/sys/fs/file-nr') ?? '').split('\t');
  return Number(allocated) > limits.kernel.openFiles;
}

/** Counts a file once for each process that has it, since the kernel does not show shared ones. */
export async function openFilesOf(processes: number[]): Promise<number> {
  let count = 0;
  for (const pid of processes) {
    // Before Linux 6.2 the folder's size does not hold the count.
    const size = (await unlessEnded(stat(`/proc/${pid}/fd`)))?.size;
    count += size || (await descriptorsOf(pid, 'fd')).names.length;
  }
  return count;
}
