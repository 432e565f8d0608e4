/** Sandboxes as the lifecycle sees them. They are frozen: to change one is to throw. */
import type { ArchiveRecord, Sandbox, SandboxState } from '../../src/model/sandbox.ts';
import { sandboxRecord } from '../store/fixtures.ts';

export const archive: ArchiveRecord = Object.freeze({ store: 'local', digest: 'd', hmac: 'h', sizeBytes: 1 });

/** Settled in the state; archived with an archive, in error with a reason. */
export function settledSandbox(state: SandboxState, overrides: Partial<Sandbox> = {}): Sandbox {
  const sandbox = sandboxRecord({
    name: 'demo',
    state,
    stateReason: state === 'error' ? 'The engine failed.' : null,
    stoppedAt: state === 'started' ? null : 5_000,
    archive: state === 'archived' ? archive : null,
    ...overrides,
  });
  Object.freeze(sandbox.resources);
  return Object.freeze(sandbox);
}
