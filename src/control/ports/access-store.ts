/** What is kept for getting at a sandbox: access tokens, and the credentials of Git remotes. */

/** `ssh`: the SSH gateway; `preview`: one port, by a signed URL. */
export type AccessKind = 'ssh' | 'preview';

export interface AccessToken {
  /** "tok_" and 16 of [0-9a-z]; safe in logs. */
  id: string;
  sandboxId: string;
  kind: AccessKind;
  /** Of previews; null otherwise. */
  port: number | null;
  /** SHA-256 of the token: the token itself is nowhere kept. */
  hash: Buffer;
  createdAt: number;
  /** null: never. */
  expiresAt: number | null;
}

/** Rows go with their sandbox. */
export interface AccessTokenStore {
  /** `not_found` when the sandbox is gone. */
  insert(token: AccessToken): Promise<void>;
  byHash(kind: AccessKind, hash: Buffer): Promise<AccessToken | null>;
  /** How many of a sandbox are there that have not expired by then. */
  count(sandboxId: string, kind: AccessKind, now: number): Promise<number>;
  /** Removes those that expired before. */
  prune(now: number): Promise<void>;
  /**
   * Removes all of these kinds, and with previews raises the epoch, in one step.
   * @returns how many of each kind had not expired by then.
   */
  revoke(sandboxId: string, kinds: readonly AccessKind[], now: number): Promise<Record<AccessKind, number>>;
  /** How often previews of a sandbox were revoked. */
  previewEpoch(sandboxId: string): Promise<number>;
}

/** `url` is normalized; the password is encrypted at rest. */
export interface GitCredential {
  sandboxId: string;
  url: string;
  username: string;
  password: string;
}

/** Rows go with their sandbox. */
export interface GitCredentialStore {
  /** Replaces what is there for this sandbox and URL. `not_found` when the sandbox is gone. */
  put(credential: GitCredential): Promise<void>;
  get(sandboxId: string, url: string): Promise<GitCredential | null>;
  /** How many a sandbox has. */
  count(sandboxId: string): Promise<number>;
}
