/**
 * The spare copy of a disk after an archive or a restore: the one that the row does not name any more. Among replicas the
 * operation lasts until it is dropped, since another one may begin the next operation on the copy that is left.
 */
import type { Sandbox } from '../../model/sandbox.ts';
import type { Runtime, SandboxPatch } from '../ports/index.ts';

export type Spare = 'disk' | 'archive' | null;

/** @param before The row with its operation. @param patch What settles it. */
export function spareAfter(before: Sandbox, patch: SandboxPatch): Spare {
  const { state, archive } = { ...before, ...patch };
  if (state === 'archived') return 'disk';
  const hadArchive = before.archive !== null || before.operation === 'archiving';
  return hadArchive && archive === null ? 'archive' : null;
}

/** Returns the spare copy of a row whose operation has nothing left to do but to drop it. */
export function spareLeft({ state, operation }: Pick<Sandbox, 'state' | 'operation'>): Spare {
  // A stop of a failed restore goes back to the archive.
  if ((operation === 'archiving' || operation === 'stopping') && state === 'archived') return 'disk';
  if (operation === 'archiving' && state === 'error') return 'archive';
  return operation === 'restoring' && state === 'started' ? 'archive' : null;
}

export async function dropSpare(
  runtime: Pick<Runtime, 'dropDisk' | 'dropArchive'>,
  id: string,
  spare: Spare,
): Promise<void> {
  if (spare === 'disk') await runtime.dropDisk(id);
  if (spare === 'archive') await runtime.dropArchive(id);
}
