/**
 * Freezes machines. It alone knows for which reasons each one is frozen: a machine runs again once none is left, in whatever
 * order they come and go.
 */
import type { Cgroups } from './cgroups.ts';

export type FreezeReason = 'asleep' | 'disk';

export interface Freezer {
  /** Counts from the call on; resolves once the machine is frozen, or no more meant to be. */
  hold(id: string, reason: FreezeReason): Promise<void>;
  /** Thaws the machine, unless it is frozen for another reason. */
  release(id: string, reason: FreezeReason): Promise<void>;
  /**
   * Runs work that freezes and thaws the machine by itself, such as a copy of its disk. Nothing else thaws it meanwhile; after
   * it the machine is frozen again where there is a reason.
   */
  during<T>(id: string, work: () => Promise<T>): Promise<T>;
  /** Freezes again what something else has thawed. */
  renew(id: string): Promise<void>;
  /** Called when the machine is gone. */
  forget(id: string): void;
}

/** Reason of work that freezes by itself. */
const ITSELF = 'itself';

export function createFreezer({ setFrozen }: Pick<Cgroups, 'setFrozen'>): Freezer {
  const reasons = new Map<string, Set<FreezeReason | typeof ITSELF>>();
  /** The last write for each machine: two side by side could end in the wrong order. */
  const writes = new Map<string, Promise<void>>();

  function add(id: string, reason: FreezeReason | typeof ITSELF): void {
    reasons.set(id, (reasons.get(id) ?? new Set()).add(reason));
  }

  function remove(id: string, reason: FreezeReason | typeof ITSELF): void {
    const left = reasons.get(id);
    left?.delete(reason);
    if (left?.size === 0) reasons.delete(id);
  }

  /** Writes what is meant once its turn has come. */
  function write(id: string): Promise<void> {
    const before = writes.get(id) ?? Promise.resolve();
    const written = before.catch(() => {}).then(() => setFrozen(id, reasons.has(id)));
    writes.set(id, written);
    const ended = () => {
      if (writes.get(id) === written) writes.delete(id);
    };
    written.then(ended, ended);
    return written;
  }

  return {
    hold(id, reason) {
      add(id, reason);
      return write(id);
    },

    release(id, reason) {
      remove(id, reason);
      return write(id);
    },

    async during(id, work) {
      add(id, ITSELF);
      try {
        return await work();
      } finally {
        remove(id, ITSELF);
        await write(id);
      }
    },

    renew: async (id) => (reasons.has(id) ? write(id) : undefined),

    forget: (id) => void reasons.delete(id),
  };
}
