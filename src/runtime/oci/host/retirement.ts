/**
 * Retirement of slots. Their links and namespaces go first; the lock goes when no process has their ids any more,
 * so that two machines never have the same uid range. One look at the host's processes serves all slots that retire
 * within half a second: among a thousand machines a look takes 2 ms. The first after a quiet time comes at once.
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
  /** Frees what is free by now. */
  close(): Promise<void>;
}

const lookIntervalMs = 500;
/** Of `drain`, which somebody waits for. */
const drainIntervalMs = 250;

export function createRetirement(instance: Instance, launcherPath: string, log: Log): Retirement {
  const existing = new Set<number>();
  const lingering = new Set<number>();
  /** Slots of both sets in which a machine may still run. */
  const suspect = new Set<number>();
  let turn: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let closed = false;

  async function removeParts(): Promise<void> {
    const batch = [...existing];
    if (batch.length === 0) return;
    await removeSlots(instance, batch, launcherPath);
    for (const index of batch) {
      existing.delete(index);
      lingering.add(index);
    }
  }

  async function freeUnused(): Promise<void> {
    const batch = [...lingering];
    if (batch.length === 0) return;
    lookedAt = performance.now();
    const anySuspect = batch.some((index) => suspect.has(index));
    const busy = await (anySuspect ? slotsWithProcesses() : slotsWithStrangers());
    const free = batch.filter((index) => !busy.has(index));
    const bootId = currentBootId();
    freeLocks(free.map((index) => ({ index, instance, bootId })));
    for (const index of free) {
      lingering.delete(index);
      suspect.delete(index);
    }
  }

  /** @param atOnce Looks for strangers even when the last look is younger than `lookIntervalMs`. */
  function sweep(atOnce = false): Promise<void> {
    turn = turn
      .then(removeParts)
      .then(async () => {
        if (atOnce || performance.now() - lookedAt >= lookIntervalMs) await freeUnused();
      })
      .catch((error) => {
        log.warn('slots could not be removed', { reason: String(error.cause ?? error) });
      });
    return turn.finally(sweepLater);
  }

  function sweepLater(): void {
    if (closed || timer || existing.size + lingering.size === 0) return;
    timer = setTimeout(() => {
      timer = undefined;
      void sweep(true);
    }, lookIntervalMs).unref();
  }

  return {
    add(indexes, machines) {
      for (const index of indexes) {
        existing.add(index);
        if (machines === 'unknown') suspect.add(index);
      }
      return indexes.length > 0 ? sweep() : Promise.resolve();
    },
    async drain(timeoutMs) {
      const deadline = performance.now() + timeoutMs;
      for (;;) {
        await sweep(true);
        const left = [...existing, ...lingering];
        if (left.length === 0 || performance.now() > deadline) return left;
        await new Promise((resolve) => setTimeout(resolve, drainIntervalMs));
      }
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await sweep(true);
    },
  };
}
