/** States of sandboxes in the words of Daytona's clients, which know no others. */
import type { Operation, SandboxState } from '../../../model/sandbox.ts';

/** States that this service can answer with; those of pauses, snapshots and builds are not among them. */
export type DaytonaState =
  | ('creating' | 'starting' | 'started' | 'stopping' | 'stopped' | 'resizing' | 'error')
  | ('archiving' | 'archived' | 'restoring' | 'destroying' | 'destroyed');

export interface ShownStates {
  state: DaytonaState;
  /** State that the operation leads to; absent for one in error, which waits for a person. */
  desiredState?: 'started' | 'stopped' | 'archived' | 'resized' | 'destroyed';
}

const inProgress: Record<Operation, ShownStates> = {
  creating: { state: 'creating', desiredState: 'started' },
  starting: { state: 'starting', desiredState: 'started' },
  restoring: { state: 'restoring', desiredState: 'started' },
  stopping: { state: 'stopping', desiredState: 'stopped' },
  archiving: { state: 'archiving', desiredState: 'archived' },
  resizing: { state: 'resizing', desiredState: 'resized' },
  deleting: { state: 'destroying', desiredState: 'destroyed' },
};

const settled: Record<SandboxState, ShownStates> = {
  started: { state: 'started', desiredState: 'started' },
  stopped: { state: 'stopped', desiredState: 'stopped' },
  archived: { state: 'archived', desiredState: 'archived' },
  error: { state: 'error' },
};

/** An operation in progress says more than the last settled state. */
export function statesOf(sandbox: {
  state: SandboxState;
  operation?: string | null | undefined;
  deleted?: boolean | undefined;
}): ShownStates {
  if (sandbox.deleted) return { state: 'destroyed', desiredState: 'destroyed' };
  return inProgress[sandbox.operation as Operation] ?? settled[sandbox.state];
}
