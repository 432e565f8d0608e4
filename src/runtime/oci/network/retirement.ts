/**
 * Slots on their way out. What they have in the kernel goes first; the lock goes when no process has their ids
 * any more, so that a range of ids is never in two machines' hands. Killed machines leave zombies for seconds.
 */
import type { Log } from '../../../control/ports.ts';
import { slotsWithProcesses } from './host-ids.ts';
import { currentBootId, freeLocks } from './locks.ts';
import { removeSlots } from './namespaces.ts';
import type { Instance } from './plan.ts';

export interface Retirement {
  /** Resolves when their links and namespaces are gone, or will be tried again. */
  add(indexes: number[]): Promise<void>;
  /** Waits for the last of them to be free; resolves to those that are not by then. */
  drain(timeoutMs: number): Promise<number[]>;
  close(): Promise<void>;
}

const pollMs = 250;

export function createRetirement(instance: Instance, log: Log): Retirement {
  const existing = new Set<number>();
  const lingering = new Set<number>();
  let sweeping: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  async function sweep(): Promise<void> {
    const batch = [...existing];
    if (batch.length > 0) {
      await removeSlots(instance, batch);
      for (const index of batch) {
        existing.delete(index);
        lingering.add(index);
      }
    }
    if (lingering.size === 0) return;
    const busy = await slotsWithProcesses();
    const free = [...lingering].filter((index) => !busy.has(index));
    const bootId = currentBootId();
    freeLocks(free.map((index) => ({ index, instance, bootId })));
    for (const index of free) lingering.delete(index);
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
    add(indexes) {
      for (const index of indexes) existing.add(index);
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
