/** A stored snapshot: a named image, or the disk of a sandbox over its image, with the sizes of sandboxes created from it. */
import type { NetworkSetting, Resources } from './sandbox.ts';

export const snapshotStates = ['pending', 'pulling', 'active', 'error'] as const;
export type SnapshotState = (typeof snapshotStates)[number];

export interface SnapshotSource {
  id: string;
  name: string;
}

export interface Snapshot {
  id: string;
  ownerId: string;
  /** Unique per owner. */
  name: string;
  state: SnapshotState;
  /** Reason of the error state. */
  stateReason: string | null;
  /** Reference as the caller gave it. */
  image: string;
  /** Content digest of the unpacked image; null until it is active. */
  imageDigest: string | null;
  /** Started in the background at every start of its sandboxes; null for none. */
  entrypoint: string[] | null;
  resources: Resources;
  regionId: string;
  /** Of the image; of one that has a disk, the bytes that the disk takes. */
  sizeBytes: number | null;
  /** Idempotency-Key of its creation. */
  creationKey: string | null;
  /** Milliseconds since the epoch. */
  createdAt: number;
  updatedAt: number;
  /** Of sandboxes created from it that ask for none; null for their owner's usual one. */
  network: NetworkSetting | null;
  /** Linux user of such sandboxes; null for root. */
  user: string | null;
  /** The sandbox whose disk it has, which may be gone; null for one of an image alone. */
  source: SnapshotSource | null;
}
