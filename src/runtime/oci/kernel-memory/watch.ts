/**
 * Ends the programs of a machine that fills the host's memory with what the kernel counts for nobody: queues of
 * netlink sockets, connections that nobody accepts, file locks. No limit of the kernel holds them for one machine, so
 * they are looked at every second, and a machine past its bound is treated as by the kernel when memory is
 * short: all its processes but PID 1 are killed, and with them goes what they held.
 */
import type { Log } from '../../../control/ports.ts';
import { limits } from '../../../model/limits.ts';
import type { Cgroups } from '../cgroups.ts';
import { lockCounts } from './locks.ts';
import { netlinkBytes, socketCounts, unacceptedBytes } from './sockets.ts';

export interface KernelMemoryWatch {
  begin(): void;
  close(): Promise<void>;
}

interface Excess {
  what: string;
  amount: number;
}

const { kernel } = limits;

export function createKernelMemoryWatch(
  cgroups: Pick<Cgroups, 'ids' | 'processes' | 'endPrograms'>,
  log: Log,
): KernelMemoryWatch {
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | null = null;
  let next = 0;

  async function look(): Promise<void> {
    const locks = await lockCounts();
    for (const id of await cgroups.ids().then(turn)) {
      const processes = await cgroups.processes(id);
      const [process] = processes;
      if (process === undefined) continue;
      const excess = excessOfLocks(locks, processes) ?? (await excessOfSockets(process));
      if (!excess) continue;
      log.warn('a sandbox held too much memory of the kernel: its programs were ended', { id, ...excess });
      await cgroups.endPrograms(id);
    }
  }

  /** Where there are many, some at a time, one after another. */
  function turn(ids: string[]): string[] {
    if (ids.length <= kernel.watchedPerInterval) return ids;
    const from = next % ids.length;
    next = from + kernel.watchedPerInterval;
    return [...ids, ...ids].slice(from, next);
  }

  return {
    begin() {
      timer = setInterval(() => {
        looking ??= look()
          .catch((error: unknown) => log.error('the memory of the kernel could not be watched', { error }))
          .finally(() => {
            looking = null;
          });
      }, kernel.watchIntervalMs);
    },
    async close() {
      clearInterval(timer);
      await looking;
    },
  };
}

function excessOfLocks(locks: Map<number, number>, processes: number[]): Excess | null {
  const amount = processes.reduce((sum, pid) => sum + (locks.get(pid) ?? 0), 0);
  return amount > kernel.fileLocks ? { what: 'file locks', amount: Math.round(amount) } : null;
}

/** @param pid Any process of the machine: all are in its one network namespace. */
async function excessOfSockets(pid: number): Promise<Excess | null> {
  const counts = await socketCounts(pid);
  if (counts === null || counts.used <= kernel.sockets) return null;
  const netlink = await netlinkBytes(pid);
  if (netlink > kernel.uncountedBytes) return { what: 'bytes in netlink queues', amount: netlink };
  // The table of connections is costly to read: only where connections can hold that much.
  if (counts.tcpBytes + counts.tcp * kernel.connectionBytes <= kernel.uncountedBytes) return null;
  const unaccepted = await unacceptedBytes(pid);
  if (unaccepted > kernel.uncountedBytes) return { what: 'bytes nobody accepted', amount: unaccepted };
  return null;
}
