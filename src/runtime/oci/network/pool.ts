/** Ready slots, refilled in the background one batch at a time; waiters are served in order. */
import type { Log } from '../../../control/ports/index.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';

export interface Pool {
  /** Takes a slot, immediately while any is ready. Fails with `resource_exhausted` when this host has none left. */
  take(): number | Promise<number>;
  /** Resolves when the pool is full, or when no more slots can be made now. */
  fill(): Promise<void>;
  ready(): number[];
  /** Stops handing out; waits for slots in the making, and resolves to the ready ones. */
  close(): Promise<number[]>;
}

interface Waiter {
  resolve(index: number): void;
  reject(error: unknown): void;
}

const retryMs = 1_000;
/** Delay that lets the start that took a slot go first. */
const refillDelayMs = 200;

/** @param make Makes up to `count` slots, fewer or none when the host has no more; cleans up after a failure. */
export function createPool(size: number, make: (count: number) => Promise<number[]>, log: Log): Pool {
  const ready: number[] = [];
  const waiters: Waiter[] = [];
  let filling: Promise<void> | null = null;
  /** Timer of the next fill, after a failure or after a slot was taken. */
  let later: NodeJS.Timeout | undefined;
  let closed = false;

  const missing = () => size + waiters.length - ready.length;

  async function fillUp(): Promise<void> {
    while (!closed && missing() > 0) {
      try {
        const made = await make(Math.min(missing(), limits.network.slotBatch));
        if (made.length === 0) throw noSlots();
        for (const index of made) {
          const waiter = waiters.shift();
          if (waiter) waiter.resolve(index);
          else ready.push(index);
        }
      } catch (error) {
        const reason = error instanceof Error ? String(error.cause ?? error.message) : String(error);
        log.warn('slots could not be made', { reason });
        for (const waiter of waiters.splice(0)) waiter.reject(error);
        later = setTimeout(fill, retryMs).unref();
        return;
      }
    }
  }

  function fill(): Promise<void> {
    if (filling) return filling;
    clearTimeout(later);
    filling = fillUp().finally(() => {
      filling = null;
      // Serves waiters that arrived while the previous ones were rejected.
      if (waiters.length > 0) void fill();
    });
    return filling;
  }

  return {
    take() {
      if (closed) throw new SandhavenError('unavailable', 'The service is shutting down.');
      const index = ready.shift();
      if (index !== undefined) {
        clearTimeout(later);
        later = setTimeout(fill, refillDelayMs).unref();
        return index;
      }
      return new Promise<number>((resolve, reject) => {
        waiters.push({ resolve, reject });
        void fill();
      });
    },
    fill,
    ready: () => ready,
    async close() {
      closed = true;
      clearTimeout(later);
      await filling;
      for (const waiter of waiters.splice(0))
        waiter.reject(new SandhavenError('unavailable', 'The service is shutting down.'));
      return ready.splice(0);
    },
  };
}

function noSlots(): SandhavenError {
  return new SandhavenError('resource_exhausted', 'No slot for another machine is left on this host.', {
    hint: 'Stop or delete a sandbox that is not needed, then try again.',
  });
}
