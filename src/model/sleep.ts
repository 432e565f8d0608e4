/**
 * Sleep of a sandbox: one that nobody uses is frozen, and wakes by any use. It is a state of the run: a sandbox that sleeps is
 * started, and stopped like any other when its intervals say so.
 */
import { SandhavenError } from './errors.ts';
import type { Deadline, Sandbox, SleepSetting } from './sandbox.ts';

export const usualSleep: SleepSetting = { afterSeconds: null, wakes: false };

/**
 * Returns the time at which an unused sandbox falls asleep, in milliseconds since the epoch; null where it does not.
 * @param usualSeconds Of sandboxes without an own number; 0: they do not.
 */
export function sleepsAt(
  {
    state,
    operation,
    sleep,
    lastActivityAt,
  }: Pick<Sandbox, 'state' | 'operation' | 'sleep' | 'lastActivityAt'>,
  usualSeconds: number,
): number | null {
  const seconds = sleep?.afterSeconds ?? usualSeconds;
  return state === 'started' && operation === null && seconds > 0 ? lastActivityAt + seconds * 1_000 : null;
}

/** Returns true for a sandbox that a use starts. */
export function startsByUse({
  state,
  operation,
  sleep,
}: Pick<Sandbox, 'state' | 'operation' | 'sleep'>): boolean {
  return sleep?.wakes === true && operation === null && (state === 'stopped' || state === 'archived');
}

/** Error of an engine that cannot freeze. */
export function cannotSleep(): SandhavenError {
  return new SandhavenError(
    'failed_precondition',
    'Sandboxes of this service cannot sleep: its engine cannot freeze them.',
    {
      hint: 'Call Sandbox.StopSandbox; files stay. Sandboxes sleep with --runtime oci.',
    },
  );
}

// The deadline of a sandbox: a moment at which the service ends it or puts it to sleep, whatever runs in it. The intervals of idleness and of
// stops are beside it, in `lifecycle.ts`.

/** Reasons of what a deadline has ended. A webhook names that of a deletion, too. */
export const deadlineReasons = {
  stop: 'Stopped at its deadline.',
  delete: 'Deleted at its deadline.',
} as const;

/** Returns the deadline of a settled sandbox, where there is something to end: a sandbox in error may be deleted. */
export function deadlineOf(sandbox: Pick<Sandbox, 'state' | 'operation' | 'deadline'>): Deadline | null {
  const { state, operation, deadline } = sandbox;
  const ends = deadline?.action === 'delete' || state === 'started';
  return operation === null && ends ? deadline : null;
}

/**
 * Returns the change of the row that removes a deadline which has stopped the sandbox, or put it to sleep, or passed while it was
 * stopped.
 */
export function withoutPassedStop({ deadline }: Pick<Sandbox, 'deadline'>, now: number): { deadline?: null } {
  return deadline && deadline.action !== 'delete' && deadline.at <= now ? { deadline: null } : {};
}
