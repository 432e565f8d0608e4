/** A stored snapshot: a named image, or the disk of a sandbox over its image, with the sizes of sandboxes created from it. */
import { isBuildId } from './ids.ts';
import type { ImageConfig, NetworkSetting, Resources } from './sandbox.ts';

export const snapshotStates = ['pending', 'pulling', 'active', 'error'] as const;
export type SnapshotState = (typeof snapshotStates)[number];

export interface SnapshotSource {
  /** Of a sandbox, or of a build: `build_…`. */
  id: string;
  /** The sandbox's, or the Dockerfile's. */
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
  /** The sandbox whose disk it has, which may be gone, or the build; null for one of an image alone. */
  source: SnapshotSource | null;
  /** null: that of its image counts alone. */
  imageConfig: ImageConfig | null;
}

/** Returns true for one that a build has made: another build may take its place. */
export function isBuilt({ source, imageConfig }: Pick<Snapshot, 'source' | 'imageConfig'>): boolean {
  return source === null ? imageConfig !== null : isBuildId(source.id);
}
