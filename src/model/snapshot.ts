/** A snapshot as it is stored: a named image with what a sandbox made from it gets. */
import type { Resources } from './sandbox.ts';

export const snapshotStates = ['pending', 'pulling', 'active', 'error'] as const;
export type SnapshotState = (typeof snapshotStates)[number];

export interface Snapshot {
  id: string;
  ownerId: string;
  /** Unique per owner. */
  name: string;
  state: SnapshotState;
  /** Why it is in error. */
  stateReason: string | null;
  /** As the caller gave it. */
  image: string;
  /** Content digest of the unpacked image; null until it is active. */
  imageDigest: string | null;
  /** Started in the background at every start of its sandboxes; null for none. */
  entrypoint: string[] | null;
  resources: Resources;
  regionId: string;
  sizeBytes: number | null;
  /** The Idempotency-Key of its creation. */
  creationKey: string | null;
  /** Milliseconds since the epoch. */
  createdAt: number;
  updatedAt: number;
}
