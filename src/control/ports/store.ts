/** What is kept: sandboxes, snapshots, users, answers of idempotent calls. */
import type { Usage } from '../../model/quota.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import type { AccessTokenStore, GitCredentialStore } from './access-store.ts';
import type { AuditStore } from './audit-store.ts';
import type { AuthorizationStore } from './code-host.ts';
import type { Allowance, Page } from './common.ts';
import type { RegistryCredentialStore } from './registry-store.ts';
import type { SnapshotStore } from './snapshot-store.ts';
import type { KeyStore, UserStore } from './user-store.ts';

export interface SandboxFilter {
  ownerId: string;
  state?: Sandbox['state'];
  /** Only sandboxes that have all of these pairs. */
  labels?: Record<string, string>;
}

export type SandboxPatch = Partial<Omit<Sandbox, 'id'>>;

/** The columns that deadlines depend on. */
export type Schedulable = Pick<
  Sandbox,
  | 'id'
  | 'state'
  | 'operation'
  | 'autoStopMinutes'
  | 'autoArchiveMinutes'
  | 'autoDeleteMinutes'
  | 'lastActivityAt'
  | 'stoppedAt'
>;

/**
 * Rows of sandboxes. A method has committed (durably) when its promise resolves. Env vars are encrypted at
 * rest. Sandboxes that are `creating` or have no owner are seen by `get`, `all` and `pool` only.
 */
export interface SandboxStore {
  /** Fails with `already_exists` when the owner has a sandbox of this name, one being created included. */
  insert(sandbox: Sandbox, allowance?: Allowance): Promise<void>;
  get(id: string): Promise<Sandbox | null>;
  /** By id or by name; only the owner's, and none that is being created. */
  find(ownerId: string, idOrName: string): Promise<Sandbox | null>;
  /** Newest first (createdAt, then id, descending). */
  list(filter: SandboxFilter, page: Page): Promise<{ sandboxes: Sandbox[]; totalCount: number }>;
  /** The owner's sandboxes by name, at most `limit`, in any state. */
  names(ownerId: string, limit: number): Promise<{ id: string; name: string }[]>;
  /** The owner's newest sandbox created under this Idempotency-Key since then; none that is being created. */
  createdUnder(ownerId: string, creationKey: string, since: number): Promise<Sandbox | null>;
  all(): Promise<Sandbox[]>;
  /** What time may act on: sandboxes with an owner and no operation in progress, without opening env vars. */
  schedulable(): Promise<Schedulable[]>;
  /** Sandboxes that wait in the warm pool, ready to be claimed. */
  pool(): Promise<Sandbox[]>;
  /**
   * Gives one ready pool sandbox of this image and disk size to its owner, in one transaction; null when
   * there is none. Fails with `already_exists` as `insert` does.
   */
  claim(
    match: { imageDigest: string; diskGb: number },
    patch: SandboxPatch,
    allowance?: Allowance,
  ): Promise<Sandbox | null>;
  /** Applies the patch if the stored generation is `generation`; null when it has moved on or the row is gone. */
  update(id: string, generation: number, patch: SandboxPatch, allowance?: Allowance): Promise<Sandbox | null>;
  /** Whether a row of this generation was there and is now gone. */
  remove(id: string, generation: number): Promise<boolean>;
  /** What the owner's sandboxes count for, those being created included. */
  usage(ownerId: string): Promise<Omit<Usage, 'snapshots'>>;
  /** GB of all disks at their full size, whoever's; a disk that is about to grow counts as it will be. */
  promisedDiskGb(): Promise<number>;
  /** Later activity times only move forward. One transaction for all. */
  touch(activity: Map<string, number>): Promise<void>;
}

/** Answers of calls made with an Idempotency-Key, by owner and key: of each owner the newest, `limits.idempotencyKeptPerOwner`. */
export interface IdempotencyStore {
  /** `requestDigest` is of tool and parameters, so that another request under the same key is noticed. */
  get(ownerId: string, key: string): Promise<{ requestDigest: string; result: unknown } | null>;
  put(ownerId: string, key: string, requestDigest: string, result: unknown, now: number): Promise<void>;
  prune(olderThan: number): Promise<void>;
}

export interface Store {
  sandboxes: SandboxStore;
  snapshots: SnapshotStore;
  users: UserStore;
  keys: KeyStore;
  idempotency: IdempotencyStore;
  accessTokens: AccessTokenStore;
  gitCredentials: GitCredentialStore;
  audit: AuditStore;
  registryCredentials: RegistryCredentialStore;
  authorizations: AuthorizationStore;
  close(): Promise<void>;
}
