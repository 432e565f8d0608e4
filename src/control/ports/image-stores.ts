/** Stores about images: rows of snapshots, the templates of sandboxes, and credentials of registries. */
import type { Snapshot } from '../../model/snapshot.ts';
import type { Allowance, Page } from './common.ts';

export type SnapshotPatch = Partial<Omit<Snapshot, 'id' | 'ownerId' | 'name' | 'network'>>;

export interface SnapshotStore {
  /**
   * Replaces a row of this name in state `error`, in the same transaction; any other gives `already_exists`. The
   * replaced row's id is gone.
   * @param replacedId Of another row that goes in that transaction.
   */
  insert(snapshot: Snapshot, allowance?: Allowance, replacedId?: string): Promise<void>;
  /** Finds by id or by name. */
  find(ownerId: string, idOrName: string): Promise<Snapshot | null>;
  /** Returns the owner's newest snapshot created under this Idempotency-Key since then. */
  createdUnder(ownerId: string, creationKey: string, since: number): Promise<Snapshot | null>;
  /** Newest first (createdAt, then id, descending). */
  list(ownerId: string, page: Page): Promise<{ snapshots: Snapshot[]; totalCount: number }>;
  /** Counts an owner's snapshots, in any state. */
  count(ownerId: string): Promise<number>;
  /** Returns the snapshots that are neither active nor in error: a restart finishes them. */
  unfinished(): Promise<Snapshot[]>;
  /** Updates a snapshot that is neither active nor in error; null when there is none. */
  update(id: string, patch: SnapshotPatch): Promise<Snapshot | null>;
  /** Sets the network of a snapshot in any state; null when there is none. */
  setNetwork(id: string, network: Snapshot['network'], now: number): Promise<Snapshot | null>;
  /**
   * Gives an active snapshot to another owner, without its Idempotency-Key; null when there is none. Rejects with
   * `already_exists` when that owner has one of this name.
   */
  give(id: string, ownerId: string, now: number, allowance?: Allowance): Promise<Snapshot | null>;
  /** Returns the ids of all disks that rows name: of snapshots that have one, or are to get one, and of steps of builds. */
  withDisks(): Promise<Set<string>>;
  /** Returns false when it did not exist. Sandboxes created from it keep its data in their own rows. */
  delete(id: string): Promise<boolean>;
  /** Returns the digests of all images that a snapshot or a sandbox, in any state, was created from. */
  imagesInUse(): Promise<Set<string>>;
}

/** Store of registry credentials: one username and password for each registry. */
export interface RegistryCredential {
  /** Key from `registryKey`. */
  registry: string;
  username: string;
  password: string;
}

/** The public part of a credential. */
export interface RegistryAccount {
  registry: string;
  username: string;
  updatedAt: number;
}

/** Passwords are encrypted at rest. */
export interface RegistryCredentialStore {
  /** Replaces the registry's credential. Rejects with `resource_exhausted` when there are too many registries. */
  put(credential: RegistryCredential, now: number): Promise<RegistryAccount>;
  get(registry: string): Promise<RegistryCredential | null>;
  /** Sorted by registry. */
  list(): Promise<RegistryAccount[]>;
  /** Returns true when it existed. */
  remove(registry: string): Promise<boolean>;
}
