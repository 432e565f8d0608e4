/**
 * Retirement of slots. Their links and namespaces go first; the lock goes when no process has their ids any more,
 * so that two machines never have the same uid range.
 */
import type { Log } from '../../../control/ports/index.ts';
import { removeSlots } from '../network/namespaces.ts';
import { slotsWithProcesses, slotsWithStrangers } from './host-ids.ts';
import { currentBootId, freeLocks } from './locks.ts';
import type { Instance } from './plan.ts';

export interface Retirement {
  /**
   * Resolves when their links and namespaces are gone, or a retry is scheduled.
   * @param machines `gone`: no cgroup of their machines is left, so only strangers may have their ids.
   */
  add(indexes: number[], machines: 'gone' | 'unknown'): Promise<void>;
  /** Waits until all are free, for at most `timeoutMs`; resolves to those that are not. */
  drain(timeoutMs: number): Promise<number[]>;
  close(): Promise<void>;
}

const pollMs = 250;

export function createRetirement(instance: Instance, launcherPath: string, log: Log): Retirement {
  const existing = new Set<number>();
  const lingering = new Set<number>();
  /** Slots of both sets in which a machine may still run. */
  const suspect = new Set<number>();
  let sweeping: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  async function sweep(): Promise<void> {
    const batch = [...existing];
    if (batch.length > 0) {
      await removeSlots(instance, batch, launcherPath);
      for (const index of batch) {
        existing.delete(index);
        lingering.add(index);
      }
    }
    if (lingering.size === 0) return;
    const anySuspect = [...lingering].some((index) => suspect.has(index));
    const busy = await (anySuspect ? slotsWithProcesses() : slotsWithStrangers());
    const free = [...lingering].filter((index) => !busy.has(index));
    const bootId = currentBootId();
    freeLocks(free.map((index) => ({ index, instance, bootId })));
    for (const index of free) {
      lingering.delete(index);
      suspect.delete(index);
    }
  }

  function sweepSoon(): Promise<void> {
    sweeping = sweeping.then(sweep).catch((error) => {
      log.warn('slots could not be removed', { reason: String(error.cause ?? error) });
    });
    return sweeping.finally(() => {
      clearTimeout(timer);
      if (!closed && existing.size + lingering.size > 0) timer = setTimeout(sweepSoon, pollMs).unref();
    });
  }

  return {
    add(indexes, machines) {
      for (const index of indexes) {
        existing.add(index);
        if (machines === 'unknown') suspect.add(index);
      }
      return indexes.length > 0 ? sweepSoon() : Promise.resolve();
    },
    async drain(timeoutMs) {
      const deadline = performance.now() + timeoutMs;
      for (;;) {
        await sweepSoon();
        const left = [...existing, ...lingering];
        if (left.length === 0 || performance.now() > deadline) return left;
        await new Promise((resolve) => setTimeout(resolve, pollMs));
      }
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await sweeping;
    },
  };
}
