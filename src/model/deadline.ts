/**
 * The deadline of a sandbox: a moment at which the service ends it or puts it to sleep, whatever runs in it. The intervals of idleness and of
 * stops are beside it, in `lifecycle.ts`.
 */
import type { Deadline, Sandbox } from './sandbox.ts';

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
