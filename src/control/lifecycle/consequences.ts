/** Consequences of the end of an operation: changes of the sandbox's row, and the outcome of work that failed. */
import { SandhavenError } from '../../model/errors.ts';
import type { Outcome } from '../../model/lifecycle.ts';
import { isNodeAway } from '../../model/lost-node.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import { withoutPassedStop } from '../../model/sleep.ts';
import type { SandboxPatch } from '../ports/index.ts';

/** @param sandbox The row before the change, with its operation. */
export function consequences(sandbox: Sandbox, state: Sandbox['state'], now: number): SandboxPatch {
  const leavesArchive = sandbox.operation === 'restoring' && state === 'started';
  // The disk is still there and may change from now on, so its archive is no copy any more.
  if (sandbox.operation === 'archiving' && state !== 'archived') {
    return { archive: null, ...(state === 'error' ? { stoppedAt: sandbox.stoppedAt ?? now } : {}) };
  }
  if (state === 'started' && (sandbox.operation === 'starting' || sandbox.operation === 'restoring')) {
    return {
      startedAt: now,
      lastActivityAt: now,
      stoppedAt: null,
      archivedAt: null,
      runGeneration: sandbox.generation,
      ...(leavesArchive ? { archive: null } : {}),
    };
  }
  if (state === 'archived') return { archivedAt: sandbox.archivedAt ?? now };
  if (state === 'stopped' && sandbox.state !== 'stopped')
    return { stoppedAt: now, runGeneration: null, ...withoutPassedStop(sandbox, now) };
  if (state === 'error') return { stoppedAt: sandbox.stoppedAt ?? now, runGeneration: null };
  return {};
}

/** @param sandbox The row of a rollback whose disk is put back: what is left to do is a start. */
export function afterPutBack({ stoppedAt }: Sandbox, now: number): SandboxPatch {
  return {
    ...{ operation: 'starting', rollbackTo: null, state: 'stopped', runGeneration: null },
    ...{ archive: null, archivedAt: null, stoppedAt: stoppedAt ?? now },
  };
}

/** Returns true for an error that came before the operation had changed anything. */
export function isDeclined(
  { operation, state, rollbackTo }: Pick<Sandbox, 'operation' | 'state' | 'rollbackTo'>,
  error: unknown,
): boolean {
  if (!(error instanceof SandhavenError)) return false;
  // The machine that ran may have been stopped.
  if (rollbackTo !== null && state === 'started') return false;
  const { code, fields } = error;
  // A stop and a delete take nothing, so they have begun when they find the host full.
  if (code === 'resource_exhausted') return operation !== 'stopping' && operation !== 'deleting';
  // The store of archives is away: the disk, or the archive, is as it was.
  const moves = operation === 'archiving' || operation === 'restoring';
  return moves && code === 'unavailable' && fields.retryable === true;
}

/** A start whose node went away leaves what a machine leaves whose node did. */
export function failureOf(operation: Sandbox['operation'], error: unknown): Outcome {
  const starts = operation === 'starting' || operation === 'restoring';
  return starts && isNodeAway(error) ? { type: 'unreachable' } : { type: 'failed', reason: reasonOf(error) };
}

/** Returns the text for `state_reason`; private causes stay in the log. */
function reasonOf(error: unknown): string {
  return error instanceof SandhavenError
    ? error.message
    : 'The engine failed; the log of the service has the cause.';
}
