/** Store of the service: sandboxes, snapshots, users, access, audit, and answers of idempotent calls. */
import type { Usage } from '../../model/quota.ts';
import type { ArchiveRecord, Sandbox } from '../../model/sandbox.ts';
import type { User } from '../../model/user.ts';
import type { AccessTokenStore, GitCredentialStore } from './access-store.ts';
import type { SessionStore } from './agent/sessions.ts';
import type { AuditStore } from './audit-store.ts';
import type { BuildStepStore } from './builds.ts';
import type { AuthorizationStore, PendingAuthorizationStore } from './code-host.ts';
import type { Allowance, Page } from './common.ts';
import type { PasskeyStore, PasswordStore } from './credentials.ts';
import type { IdentityStore } from './identity.ts';
import type { RegistryCredentialStore, SnapshotStore } from './image-stores.ts';
import type { OwnerNetworkStore } from './network.ts';
import type { Replicas } from './replicas.ts';
import type { SecretStore, ServiceSecretStore } from './secrets.ts';
import type { DeviceSignInStore, OAuthStore, SignInStore } from './sign-in-store.ts';
import type { KeyStore, TeamStore, UserDeletionStore, UserStore } from './user-store.ts';
import type { WebhookStore } from './webhooks.ts';

export interface SandboxFilter {
  ownerId: string;
  state?: Sandbox['state'];
  /** Matches only sandboxes with all of these pairs. */
  labels?: Record<string, string>;
}

export type SandboxPatch = Partial<Omit<Sandbox, 'id'>>;

/** Columns that deadlines depend on. */
export type Schedulable = Pick<
  Sandbox,
  | 'id'
  | 'ownerId'
  | 'state'
  | 'operation'
  | 'autoStopMinutes'
  | 'autoArchiveMinutes'
  | 'autoDeleteMinutes'
  | 'deadline'
  | 'sleep'
  | 'lastActivityAt'
  | 'stoppedAt'
>;

/** Columns that are compared with machines. */
export type Comparable = Pick<
  Sandbox,
  | 'id'
  | 'state'
  | 'stateReason'
  | 'operation'
  | 'ownerId'
  | 'imageDigest'
  | 'generation'
  | 'runGeneration'
  | 'network'
  | 'secretIds'
>;

/** An operation, and the replica that carries it out. */
export type InProgress = Pick<Sandbox, 'id' | 'operation' | 'holder' | 'generation'>;

/**
 * Rows of sandboxes. A method has committed (durably) when its promise resolves. Env vars are encrypted at rest. Only
 * `get`, `reread`, `all`, `comparable`, `inProgress` and `pool` return sandboxes that are `creating` or have no owner.
 */
export interface SandboxStore {
  /** Rejects with `already_exists` when the owner has a sandbox of this name, one being created included. */
  insert(sandbox: Sandbox, allowance?: Allowance): Promise<void>;
  get(id: string): Promise<Sandbox | null>;
  /** Like `get`, with what other replicas have committed a moment ago. */
  reread(id: string): Promise<Sandbox | null>;
  /** Finds by id or by name; only the owner's, and none that is being created. */
  find(ownerId: string, idOrName: string): Promise<Sandbox | null>;
  /** Newest first (createdAt, then id, descending). */
  list(filter: SandboxFilter, page: Page): Promise<{ sandboxes: Sandbox[]; totalCount: number }>;
  /** Lists the owner's sandboxes by name, at most `limit`, in any state. */
  names(ownerId: string, limit: number): Promise<{ id: string; name: string }[]>;
  /** Returns the owner's newest sandbox created under this Idempotency-Key since then; none that is being created. */
  createdUnder(ownerId: string, creationKey: string, since: number): Promise<Sandbox | null>;
  all(): Promise<Sandbox[]>;
  /** Returns all sandboxes in the order of their ids, at most `limit` of those after the id; decrypts no env vars. */
  comparable(afterId: string, limit: number): Promise<Comparable[]>;
  /**
   * Returns sandboxes with an operation in progress, for those who finish what is left: in the order of their ids, at most
   * `limit` of those after the id.
   */
  inProgress(afterId: string, limit: number): Promise<InProgress[]>;
  /** Returns sandboxes with an owner and no operation in progress, for deadlines; decrypts no env vars. */
  schedulable(): Promise<Schedulable[]>;
  /**
   * Returns the archives that rows name, in the order of their sandboxes' ids, at most `limit` of those after the id.
   */
  archives(afterId: string, limit: number): Promise<{ id: string; archive: ArchiveRecord }[]>;
  /** Returns the sandboxes of the warm pool that can be claimed. */
  pool(): Promise<Sandbox[]>;
  /**
   * Gives one ready pool sandbox of this image and disk size to its owner, in one transaction; null when there is none.
   * Its generation is raised, so work that read it without an owner changes it no more; its machine keeps its own. Rejects
   * with `already_exists` like `insert`.
   */
  claim(
    match: { imageDigest: string; diskGb: number },
    patch: SandboxPatch,
    allowance?: Allowance,
  ): Promise<Sandbox | null>;
  /**
   * Applies the patch if the stored generation is `generation`; null when it has moved on or the row is gone.
   * @param unusedSince null also when the stored last activity is later than this.
   */
  update(
    id: string,
    generation: number,
    patch: SandboxPatch,
    allowance?: Allowance,
    unusedSince?: number,
  ): Promise<Sandbox | null>;
  /** Returns true when a row of this generation existed; it is gone then. */
  remove(id: string, generation: number): Promise<boolean>;
  /** Returns the usage of the owner's sandboxes, those being created included. */
  usage(ownerId: string): Promise<Omit<Usage, 'snapshots'>>;
  /** Returns the GB of all owners' disks at their full size; a disk about to grow counts at its new size. */
  promisedDiskGb(): Promise<number>;
  /** Moves activity times forward only. One transaction for all. */
  touch(activity: Map<string, number>): Promise<void>;
}

/**
 * Answers of calls with an Idempotency-Key, by owner and key: of each owner the newest
 * `limits.idempotencyKeptPerOwner`.
 */
export interface IdempotencyStore {
  /** `requestDigest` covers tool and parameters, to detect another request under the same key. */
  get(ownerId: string, key: string): Promise<{ requestDigest: string; result: unknown } | null>;
  put(ownerId: string, key: string, requestDigest: string, result: unknown, now: number): Promise<void>;
  /**
   * Gives the key to this replica, unless another has it; returns the one that has it now. Given up in its stead: a
   * replica that has died with it.
   */
  hold(ownerId: string, key: string, replica: string, dead: string | null): Promise<string>;
  /** Ends `hold`. */
  release(ownerId: string, key: string, replica: string): Promise<void>;
  /** Removes answers older than this, and what replicas held that were given up. */
  prune(olderThan: number): Promise<void>;
}

/** Connections of this process to a database server. */
export interface StoreConnections {
  open: number;
  /** Open ones that nobody uses. */
  idle: number;
  max: number;
  /** Those who wait for one. */
  waiting: number;
}

export interface Store {
  sandboxes: SandboxStore;
  /** Everybody's sandboxes, as admins see them. */
  everybody: EverybodyStore;
  snapshots: SnapshotStore;
  users: UserStore;
  userDeletions: UserDeletionStore;
  teams: TeamStore;
  /** Of users and teams, for their sandboxes. */
  ownerNetworks: OwnerNetworkStore;
  keys: KeyStore;
  signIns: SignInStore;
  deviceSignIns: DeviceSignInStore;
  passkeys: PasskeyStore;
  passwords: PasswordStore;
  identities: IdentityStore;
  oauth: OAuthStore;
  idempotency: IdempotencyStore;
  accessTokens: AccessTokenStore;
  gitCredentials: GitCredentialStore;
  sessions: SessionStore;
  audit: AuditStore;
  registryCredentials: RegistryCredentialStore;
  /** Captured steps of builds. */
  buildSteps: BuildStepStore;
  /** Of owners, for their sandboxes. */
  secrets: SecretStore;
  /** Of the service itself. */
  serviceSecrets: ServiceSecretStore;
  authorizations: AuthorizationStore;
  /** The processes that share this store. */
  replicas: Replicas;
  pendingAuthorizations: PendingAuthorizationStore;
  webhooks: WebhookStore;
  /** Present where the store is a server's. */
  connections?(): StoreConnections;
  close(): Promise<void>;
}

/** Store of what admins see of everybody's sandboxes: no env vars, no labels, nothing from inside. */
export interface OwnedSandbox
  extends Pick<
    Sandbox,
    | 'id'
    | 'name'
    | 'state'
    | 'operation'
    | 'stateReason'
    | 'image'
    | 'resources'
    | 'deadline'
    | 'createdAt'
    | 'lastActivityAt'
  > {
  /** A team has no email. */
  owner: Pick<User, 'id' | 'name'> & { email: string | null };
}

export interface EverybodyFilter {
  ownerId?: string;
  state?: Sandbox['state'];
}

export interface EverybodyStore {
  /** Newest first (createdAt, then id, descending); none of the warm pool, and none that is being created. */
  list(filter: EverybodyFilter, page: Page): Promise<{ sandboxes: OwnedSandbox[]; totalCount: number }>;
}
