/** Changes of a sandbox's row that follow from the state its operation has reached. */
import type { Sandbox } from '../../model/sandbox.ts';
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
  if (state === 'stopped' && sandbox.state !== 'stopped') return { stoppedAt: now, runGeneration: null };
  if (state === 'error') return { stoppedAt: sandbox.stoppedAt ?? now, runGeneration: null };
  return {};
}
