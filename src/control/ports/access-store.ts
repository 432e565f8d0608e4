/** Store of access to sandboxes: access tokens, and the credentials of Git remotes. */

import type { PublicPorts, WayInside } from '../../model/sandbox-access.ts';

/** `ssh`: the SSH gateway; `preview`: one port, by a signed URL. */
export type AccessKind = 'ssh' | 'preview';

export interface AccessToken {
  /** "tok_" and 16 of [0-9a-z]; safe in logs. */
  id: string;
  sandboxId: string;
  kind: AccessKind;
  /** Port of a preview token; null for SSH. */
  port: number | null;
  /** SHA-256 of the token: the token itself is never stored. */
  hash: Buffer;
  createdAt: number;
  /** null: never. */
  expiresAt: number | null;
}

/** Rows are deleted with their sandbox. */
export interface AccessTokenStore {
  /** Rejects with `not_found` when the sandbox is gone. */
  insert(token: AccessToken): Promise<void>;
  byHash(kind: AccessKind, hash: Buffer): Promise<AccessToken | null>;
  /** Counts a sandbox's tokens that have not expired by `now`. */
  count(sandboxId: string, kind: AccessKind, now: number): Promise<number>;
  /** Removes tokens that expired before `now`. */
  prune(now: number): Promise<void>;
  /**
   * Removes all tokens of these kinds, raises the epochs of those without rows, and closes public ports with previews, in one
   * step.
   * @returns the number of rows of each kind that had not expired by `now`.
   */
  revoke(sandboxId: string, kinds: readonly WayInside[], now: number): Promise<Record<AccessKind, number>>;
  /** Removes one token of a sandbox; returns what it was, or null. */
  remove(sandboxId: string, hash: Buffer): Promise<AccessToken | null>;
  /** Returns the number of revocations of a sandbox's previews. */
  previewEpoch(sandboxId: string): Promise<number>;
  /** Returns a text that changes with each revocation of previews, and with each raise. */
  signingEpoch(sandboxId: string): Promise<string>;
  raiseSigningEpoch(sandboxId: string): Promise<void>;
  /** Returns the number of revocations of a sandbox's own tokens. */
  tokenEpoch(sandboxId: string): Promise<number>;
  publicPorts(sandboxId: string): Promise<PublicPorts>;
  setPublicPorts(sandboxId: string, ports: PublicPorts): Promise<void>;
}

/** `url` is normalized; the password is encrypted at rest. */
export interface GitCredential {
  sandboxId: string;
  url: string;
  username: string;
  password: string;
}

/** Rows are deleted with their sandbox. */
export interface GitCredentialStore {
  /** Replaces the credential of this sandbox and URL. Rejects with `not_found` when the sandbox is gone. */
  put(credential: GitCredential): Promise<void>;
  get(sandboxId: string, url: string): Promise<GitCredential | null>;
  /** Counts the credentials of a sandbox. */
  count(sandboxId: string): Promise<number>;
  /** Removes all credentials of a sandbox. */
  remove(sandboxId: string): Promise<void>;
}
