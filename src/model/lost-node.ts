/** Nodes that do not answer: what becomes of their sandboxes, and what callers learn. */
import { SandhavenError } from './errors.ts';
import type { Sandbox } from './sandbox.ts';

export interface NodeLoss {
  /** Silence of a node after which its sandboxes are in error. */
  afterMs: number;
  /** true: a sandbox starts again by itself once its old machine is known to have ended. */
  restarts: boolean;
}

/** Reason of a sandbox in error whose machine may still run. Rows keep it, and `isLost` knows them by it. */
export const LOST_REASON =
  'Its node does not answer, so its machine may still run. It can be started again once the node is back, or was removed from the cluster.';

const AWAY = "The sandbox's node does not answer, so it is not known that its machine has ended.";

/** Returns true for a sandbox in error that nobody has touched since its node went away. */
export function isLost({
  state,
  stateReason,
  operation,
}: Pick<Sandbox, 'state' | 'stateReason' | 'operation'>): boolean {
  return operation === null && state === 'error' && stateReason === LOST_REASON;
}

export function nodeAway(): SandhavenError {
  return new SandhavenError('unavailable', AWAY, {
    hint: 'Try again once the node is back, or ask the operator to remove the node from the cluster.',
  });
}

export function isNodeAway(error: unknown): boolean {
  return error instanceof SandhavenError && error.message === AWAY;
}
