/**
 * Memory groups of ended machines. When such a group goes, the kernel hands on what each list of each mounted file system has of
 * it, and meanwhile makes, changes and removes no group of the host: 4 ms among a thousand machines, for which the next creation
 * or deletion would wait. So an empty group waits for a quiet time, in which they go one by one.
 *
 * Invariants: a group that waits is empty, and all else of its machine is gone. No machine starts in one.
 */
import type { Log } from '../../../control/ports/index.ts';
import { describeFailure } from '../failures.ts';
import type { Cgroups } from '../host/cgroups.ts';

export interface MemoryGroups {
  /** Leaves the sandbox's group, which is empty, to a quiet time. */
  leave(sandboxId: string): void;
  /** Removes the sandbox's group now if it waits. Called before each start of a machine, and makes the others wait on. */
  free(sandboxId: string): Promise<void>;
  waits(sandboxId: string): boolean;
  /** Removes all that wait. */
  close(): Promise<void>;
}

export interface MemoryGroupsDependencies {
  cgroups: Pick<Cgroups, 'destroy'>;
  log: Pick<Log, 'warn'>;
}

/** Time without a start or an end of a machine. */
const QUIET_MS = 300;
const PAUSE_MS = 20;
/** With more, the oldest goes at once: each has some memory of the kernel's, and makes every group's end longer. */
const MOST_WAITING = 128;

export function createMemoryGroups({ cgroups, log }: MemoryGroupsDependencies): MemoryGroups {
  /** By sandbox, the oldest first; null while nobody removes it. */
  const waiting = new Map<string, Promise<void> | null>();
  let timer: NodeJS.Timeout | undefined;

  function remove(sandboxId: string): Promise<void> {
    const removal =
      waiting.get(sandboxId) ??
      cgroups
        .destroy(sandboxId)
        // What is left is a trace of the sandbox: the next survey finds it.
        .catch((error: unknown) => {
          log.warn('a memory group could not be removed', { id: sandboxId, reason: describeFailure(error) });
        })
        .finally(() => waiting.delete(sandboxId));
    waiting.set(sandboxId, removal);
    return removal;
  }

  function oldest(): string | undefined {
    for (const [sandboxId, removal] of waiting) if (removal === null) return sandboxId;
    return undefined;
  }

  function removeIn(delayMs: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const next = oldest();
      if (next === undefined) return;
      void remove(next);
      removeIn(PAUSE_MS);
    }, delayMs).unref();
  }

  return {
    leave(sandboxId) {
      if (!waiting.has(sandboxId)) waiting.set(sandboxId, null);
      removeIn(QUIET_MS);
      const first = oldest();
      if (waiting.size > MOST_WAITING && first !== undefined) void remove(first);
    },

    async free(sandboxId) {
      if (waiting.size > 0) removeIn(QUIET_MS);
      if (waiting.has(sandboxId)) await remove(sandboxId);
    },

    waits: (sandboxId) => waiting.has(sandboxId),

    async close() {
      clearTimeout(timer);
      for (const sandboxId of [...waiting.keys()]) await remove(sandboxId);
    },
  };
}
