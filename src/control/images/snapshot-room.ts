/** Checks that every new snapshot has to pass, of an image or of a sandbox. */
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { BASE_IMAGE } from '../base/base-image.ts';
import type { SnapshotStore } from '../ports/index.ts';

/** Throws `already_exists` for the name of the base image. */
export function assertNotReserved(name: string): void {
  if (name !== BASE_IMAGE) return;
  throw new SandhavenError('already_exists', "The snapshot 'base' is the standard base image.", {
    parameter: 'name',
    hint: 'Choose another name.',
  });
}

/** Rejects with `resource_exhausted` while too many are being made, or kept. */
export async function assertRoomForSnapshot(
  store: Pick<SnapshotStore, 'unfinished' | 'count'>,
  ownerId: string,
): Promise<void> {
  const { unfinished, perOwner } = limits.snapshot;
  const waiting = (await store.unfinished()).filter((snapshot) => snapshot.ownerId === ownerId);
  if (waiting.length >= unfinished) {
    throw new SandhavenError('resource_exhausted', `${waiting.length} snapshots are still being made.`, {
      hint: 'Wait until some of them are active (Sandbox.ListSnapshots), then try again.',
      retryable: true,
    });
  }
  const totalCount = await store.count(ownerId);
  if (totalCount < perOwner) return;
  throw new SandhavenError('resource_exhausted', `There are ${totalCount} snapshots; more are not kept.`, {
    hint: 'Delete one with `sandhaven snapshots rm NAME`, or create sandboxes from an image directly.',
  });
}
