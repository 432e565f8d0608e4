/**
 * Cgroups of ended machines. While one goes, the kernel makes, changes and removes no other: for the group that limits memory it
 * hands on what each list of each mounted file system has of it (4 ms among a thousand machines), for that of processors it looks
 * at all others. The next creation or deletion would wait for that. So empty groups wait for a quiet time, in which those of one
 * machine after another go.
 *
 * Invariants: groups that wait are empty, and all else of their machine is gone. No machine starts in them.
 */
import type { Log } from '../../../control/ports/index.ts';
import { describeFailure } from '../host/failures.ts';
import type { Cgroups } from './cgroups.ts';

export interface EndedGroups {
  /** Leaves the sandbox's groups, which are empty, to a quiet time. */
  leave(sandboxId: string): void;
  /** Removes the sandbox's groups now if they wait. Called before each start of a machine, and makes the others wait on. */
  free(sandboxId: string): Promise<void>;
  waits(sandboxId: string): boolean;
  /** Sandboxes whose groups wait now. */
  waiting(): Set<string>;
  /** Removes all that wait. */
  close(): Promise<void>;
}

export interface EndedGroupsDependencies {
  cgroups: Pick<Cgroups, 'remove'>;
  log: Pick<Log, 'warn'>;
}

/** Time without a start or an end of a machine. */
const QUIET_MS = 300;
const PAUSE_MS = 20;
/** Of so many machines; with more, the oldest's go at once. They have some memory of the kernel's, and are more to look at. */
const MOST_WAITING = 128;

export function createEndedGroups({ cgroups, log }: EndedGroupsDependencies): EndedGroups {
  /** By sandbox, the oldest first; null while nobody removes it. */
  const waiting = new Map<string, Promise<void> | null>();
  let timer: NodeJS.Timeout | undefined;

  function remove(sandboxId: string): Promise<void> {
    const removal =
      waiting.get(sandboxId) ??
      cgroups
        .remove(sandboxId)
        // What is left is a trace of the sandbox: the next survey finds it.
        .catch((error: unknown) => {
          log.warn('cgroups of an ended sandbox could not be removed', {
            id: sandboxId,
            reason: describeFailure(error),
          });
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
    waiting: () => new Set(waiting.keys()),

    async close() {
      clearTimeout(timer);
      for (const sandboxId of [...waiting.keys()]) await remove(sandboxId);
    },
  };
}
