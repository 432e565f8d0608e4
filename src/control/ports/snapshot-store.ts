/** Rows of snapshots, the templates that sandboxes are made from. */
import type { Snapshot } from '../../model/snapshot.ts';
import type { Allowance, Page } from './common.ts';

export type SnapshotPatch = Partial<Omit<Snapshot, 'id' | 'ownerId' | 'name'>>;

export interface SnapshotStore {
  /**
   * One of this name in state `error` is replaced, in the same transaction; any other gives `already_exists`.
   * A replaced one's id is gone.
   */
  insert(snapshot: Snapshot, allowance?: Allowance): Promise<void>;
  /** By id or by name. */
  find(ownerId: string, idOrName: string): Promise<Snapshot | null>;
  /** The owner's newest one created under this Idempotency-Key since then. */
  createdUnder(ownerId: string, creationKey: string, since: number): Promise<Snapshot | null>;
  /** Newest first (createdAt, then id, descending). */
  list(ownerId: string, page: Page): Promise<{ snapshots: Snapshot[]; totalCount: number }>;
  /** How many an owner has, in whatever state. */
  count(ownerId: string): Promise<number>;
  /** Those that are neither active nor in error: to be finished after a restart. */
  unfinished(): Promise<Snapshot[]>;
  /** null when the row is gone. */
  update(id: string, patch: SnapshotPatch): Promise<Snapshot | null>;
  /** False when it was not there. Sandboxes that were made from it keep what they need of it in their own rows. */
  delete(id: string): Promise<boolean>;
  /** Digests of all images that some snapshot or some sandbox, in whatever state, was made from. */
  imagesInUse(): Promise<Set<string>>;
}
