/** Steps of rows that the contract's lifecycle has, by hand: from state and operation to state and operation. */
import type { Sandbox } from '../../src/model/sandbox.ts';
import type { SnapshotState } from '../../src/model/snapshot.ts';

/** A delete may begin in any shape, and keeps the state. */
const steps: Record<string, string[]> = {
  nothing: ['stopped creating'],
  'stopped creating': ['started'],
  'started creating': ['started'],
  // Without a command: its machine ended. With `creating`: a pool sandbox that is resized for its owner.
  // Also without one: its node does not answer.
  started: [
    'started stopping',
    'started resizing',
    'started restoring',
    'stopped',
    'started creating',
    'error',
  ],
  'started stopping': ['stopped', 'error', 'started'],
  'started resizing': ['started', 'stopped', 'error'],
  stopped: ['stopped starting', 'stopped restoring', 'stopped archiving', 'stopped resizing'],
  'stopped restoring': ['stopped', 'error', 'stopped starting'],
  'stopped starting': ['started', 'stopped', 'error'],
  'stopped archiving': ['archived', 'stopped', 'error', 'archived archiving', 'error archiving'],
  // Among replicas the spare copy goes within the operation.
  'archived archiving': ['archived'],
  'error archiving': ['error'],
  'started restoring': ['started', 'error', 'stopped starting'],
  'stopped resizing': ['stopped'],
  archived: ['archived restoring'],
  'archived restoring': ['started', 'archived', 'error', 'started restoring', 'stopped starting'],
  error: ['error starting', 'error restoring', 'error stopping'],
  'error starting': ['started', 'error'],
  'error restoring': ['started', 'error', 'started restoring', 'stopped starting'],
  'error stopping': ['stopped', 'archived', 'error', 'archived stopping'],
  'archived stopping': ['archived'],
};

export const snapshotSteps: Record<SnapshotState, SnapshotState[]> = {
  pending: ['pending', 'pulling', 'error'],
  pulling: ['pulling', 'active', 'error'],
  active: ['active'],
  error: ['error'],
};

export function shapeOf({ state, operation }: Sandbox): string {
  return operation === null ? state : `${state} ${operation}`;
}

export function isLegalStep(before: Sandbox | null, after: Sandbox): boolean {
  const from = before ? shapeOf(before) : 'nothing';
  const to = shapeOf(after);
  if (from === to) return true;
  if (after.operation === 'deleting') return before?.state === after.state;
  return steps[from]?.includes(to) ?? false;
}
