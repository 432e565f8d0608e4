/**
 * Ends the programs of a machine that fills the host's memory with objects that the kernel charges to nobody: netlink
 * queues, unaccepted connections, file locks, objects behind open files. The kernel has no limit on them per machine,
 * so they are measured every second; a machine that has not worked since holds what it held. A machine above its bound
 * is treated like one out of memory: all its processes except PID 1 are killed, which frees these objects. Machines
 * below their bounds have a bound together: above it, the programs of the owner who holds most are ended, largest
 * machine first.
 */
import type { Log } from '../../../control/ports/index.ts';
import { limits } from '../../../model/limits.ts';
import type { Owners } from '../fairness/owners.ts';
import type { Cgroups } from '../machine/cgroups.ts';
import type { Holding, Holdings } from './holdings.ts';
import { hostTcpBytes } from './sockets.ts';

export interface KernelMemoryWatch {
  /** @param mostBytes Bound of all machines together. */
  begin(mostBytes: number): void;
  close(): Promise<void>;
}

export interface KernelMemoryWatchDependencies {
  cgroups: Pick<Cgroups, 'present' | 'endPrograms'>;
  holdings: Holdings;
  owners: Pick<Owners, 'of'>;
  /** Returns the processor time of a machine, to the last moment; null where it is not known. */
  usedMs(id: string): number | null;
  /** The same of all machines together. */
  usedMsOfAll(): number | null;
  /** Returns the host's available memory. */
  availableBytes(): number;
  log: Log;
}

type Known = Holding & {
  locks: number;
  usedMs: number | null;
  /** Number of the change of all machines' processor time since which this one has not worked. */
  restedSince: number;
};

interface Excess {
  what: string;
  amount: number;
}

interface Held {
  id: string;
  owner: string;
  bytes: number;
}

const { kernel } = limits;

export function createKernelMemoryWatch(parts: KernelMemoryWatchDependencies): KernelMemoryWatch {
  const { cgroups, holdings, owners, usedMs, usedMsOfAll, availableBytes, log } = parts;
  /** Last measured holdings of every machine. */
  const known = new Map<string, Known>();
  const timers: NodeJS.Timeout[] = [];
  /** Highest available memory since its last fall. */
  let mostAvailable = 0;
  /** Processor time of all machines at the last glance, and at the last look. */
  let glancedMs: number | null = null;
  let lookedMs: number | null = null;
  /** Looks before which any machine has worked. */
  let works = 0;
  let looking: Promise<void> | null = null;
  let next = 0;
  /** True when all machines together may hold too much, so that the next look measures exactly. */
  let exactly = false;

  async function look(mostBytes: number): Promise<void> {
    const present = await cgroups.present();
    const running = new Set(present);
    for (const id of known.keys()) if (!running.has(id)) known.delete(id);
    noteWork();
    const ids = turn(present);
    const used = new Map<string, number | null>();
    const idle = new Set<string>();
    const { machines, locks } = await holdings(ids, exactly, (id) => {
      const isIdle = hasRested(id, used);
      if (isIdle) idle.add(id);
      return isIdle;
    });
    for (const id of ids) {
      const holding = machines.get(id);
      const usedMs = used.get(id) ?? null;
      if (holding) known.set(id, { ...holding, locks: 0, usedMs, restedSince: works });
      else if (!idle.has(id)) known.delete(id);
    }
    for (const [id, count] of locks) {
      const holding = known.get(id);
      if (holding) holding.locks = count;
    }
    for (const [id, holding] of known) {
      const excess = excessOf(holding);
      if (excess) await end(id, excess);
    }
    await endWhoHoldMost(mostBytes);
    exactly = bytesAtMost() > mostBytes;
  }

  function noteWork(): void {
    const nowMs = usedMsOfAll();
    if (nowMs === null || nowMs !== lookedMs) works += 1;
    lookedMs = nowMs;
  }

  /** Without processor time nothing is made that a machine could hold. One is asked only after any has worked. */
  function hasRested(id: string, used: Map<string, number | null>): boolean {
    const before = known.get(id);
    if (before?.restedSince === works) return true;
    const nowMs = usedMs(id);
    used.set(id, nowMs);
    if (nowMs === null || nowMs !== before?.usedMs) return false;
    before.restedSince = works;
    return true;
  }

  async function endWhoHoldMost(mostBytes: number): Promise<void> {
    const held = [...known].map(([id, holding]) => ({ id, owner: owners.of(id), bytes: bytesOf(holding) }));
    for (const { id, bytes } of endedFirst(held, mostBytes)) {
      await end(id, { what: 'bytes, while all sandboxes together held too much', amount: bytes });
    }
  }

  function bytesAtMost(): number {
    const ofMachines = [...known.values()].reduce((sum, held) => sum + bytesOf(held) + held.unreadBytes, 0);
    return ofMachines + hostTcpBytes();
  }

  async function end(id: string, excess: Excess): Promise<void> {
    known.delete(id);
    log.warn('a sandbox held too much memory of the kernel: its programs were ended', { id, ...excess });
    await cgroups.endPrograms(id);
  }

  /** Returns the machines of this look: all, or the next part when there are many. */
  function turn(ids: string[]): string[] {
    if (ids.length <= kernel.watchedPerInterval) return ids;
    const from = next % ids.length;
    next = from + kernel.watchedPerInterval;
    return [...ids, ...ids].slice(from, next);
  }

  function lookSoon(mostBytes: number): void {
    looking ??= look(mostBytes)
      .catch((error: unknown) => log.error('the memory of the kernel could not be watched', { error }))
      .finally(() => {
        looking = null;
      });
  }

  /**
   * Looks at once when available memory fell by one machine's bound: a machine can take a gigabyte in a second. Machines that
   * rest take none, and the kernel makes the figure of the whole host, which costs more than theirs.
   */
  function glance(mostBytes: number): void {
    let available: number;
    try {
      const nowMs = usedMsOfAll();
      if (nowMs !== null && nowMs === glancedMs) return;
      glancedMs = nowMs;
      available = availableBytes();
    } catch {
      // No descriptor is free: the next glance tries again.
      return;
    }
    const hasFallen = mostAvailable - available > kernel.uncountedBytes;
    mostAvailable = hasFallen ? available : Math.max(mostAvailable, available);
    if (hasFallen) lookSoon(mostBytes);
  }

  return {
    begin(mostBytes) {
      timers.push(setInterval(() => lookSoon(mostBytes), kernel.watchIntervalMs));
      timers.push(setInterval(() => glance(mostBytes), kernel.glanceIntervalMs));
    },
    async close() {
      for (const timer of timers.splice(0)) clearInterval(timer);
      await looking;
    },
  };
}

function bytesOf({ netlinkBytes, unacceptedBytes, locks, openFiles }: Known): number {
  const objects = locks * kernel.fileLockBytes + openFiles * kernel.openFileBytes;
  return netlinkBytes + unacceptedBytes + objects;
}

function excessOf({ netlinkBytes, unacceptedBytes, locks, openFiles }: Known): Excess | null {
  if (locks > kernel.fileLocks) return { what: 'file locks', amount: locks };
  if (openFiles > kernel.openFiles) return { what: 'open files', amount: openFiles };
  if (netlinkBytes > kernel.uncountedBytes) return { what: 'bytes in netlink queues', amount: netlinkBytes };
  if (unacceptedBytes > kernel.uncountedBytes) {
    return { what: 'bytes in unaccepted connections', amount: unacceptedBytes };
  }
  return null;
}

/**
 * Returns the machines to end so that the rest is within the bound: one after the other the largest of the owner whose machines
 * hold most. Many small machines of one owner end before a large one of another.
 */
function endedFirst(held: Held[], mostBytes: number): Held[] {
  const left = held.toSorted((a, b) => b.bytes - a.bytes);
  const byOwner = new Map<string, number>();
  for (const { owner, bytes } of left) byOwner.set(owner, (byOwner.get(owner) ?? 0) + bytes);
  let total = left.reduce((sum, { bytes }) => sum + bytes, 0);
  const ended: Held[] = [];
  while (total > mostBytes) {
    const [most] = [...byOwner].toSorted(([, a], [, b]) => b - a);
    const at = left.findIndex(({ owner }) => owner === most?.[0]);
    const [machine] = left.splice(at, 1);
    if (!machine) break;
    byOwner.set(machine.owner, (byOwner.get(machine.owner) ?? 0) - machine.bytes);
    total -= machine.bytes;
    ended.push(machine);
  }
  return ended;
}
