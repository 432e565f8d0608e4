/**
 * Retirement of slots. Their links and namespaces go first; the lock goes when no process has their ids any more,
 * so that two machines never have the same uid range. One look at the host's processes serves all slots that retire
 * within half a second: among a thousand machines a look takes 2 ms. The first after a quiet time comes at once.
 */

import { Patience } from '../../../concurrency/patience.ts';
import type { Log } from '../../../control/ports/index.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { kill, named, notEnding } from '../host/cgroup-processes.ts';
import { processesIn, slotsWithProcesses, slotsWithStrangers } from '../host/host-ids.ts';
import { currentBootId, freeLocks } from '../host/locks.ts';
import type { Instance } from '../host/plan.ts';
import { removeSlots } from './namespaces.ts';

export interface Retirement {
  /**
   * Resolves when their links and namespaces are gone, or a retry is scheduled.
   * @param machines `gone`: no cgroup of their machines is left, so only strangers may have their ids.
   */
  add(indexes: number[], machines: 'gone' | 'unknown'): Promise<void>;
  /**
   * Kills what still runs in them, and resolves once they are free, or only programs of others on this host have their ids.
   * Rejects with `unavailable`, naming what is left, when that is stuck.
   */
  drain(): Promise<void>;
  /** Frees what is free by now. */
  close(): Promise<void>;
}

const lookIntervalMs = 500;
/** Of `drain`, which somebody waits for. */
const drainIntervalMs = 250;

function shown(processes: { pid: number }[]): string {
  return processes.map(({ pid }) => named(pid)).join(', ');
}

/** The warnings before it have the cause. */
function notRemoved(): SandhavenError {
  return new SandhavenError('unavailable', 'The network of the sandboxes could not be removed.', {
    hint: 'See the warnings before this; purge again when their cause is mended.',
  });
}

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
    async drain() {
      const wait = (left: string) => log.info('waiting for the end of what ran in slots', { left });
      const patience = new Patience(limits.kernelStuckMs, wait);
      for (;;) {
        await sweep(true);
        if (existing.size + lingering.size === 0) return;
        const processes = await processesIn([...lingering]);
        const own = processes.filter(({ groups }) => groups.includes(`/sandhaven-${instance.id}/`));
        if (existing.size === 0 && own.length === 0 && processes.length > 0) {
          // New slots are made where no such program is.
          log.warn('other programs of this host have ids of slots', { programs: shown(processes) });
          return;
        }
        for (const { pid } of own) kill(pid);
        const isStuck = patience.isOver(existing.size + own.length, shown(own));
        if (isStuck) throw own.length > 0 ? notEnding(own.map(({ pid }) => pid)) : notRemoved();
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
