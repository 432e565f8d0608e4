/** Store of OAuth: registered clients, grants, and what is issued under them. */
import type { Grant, OAuthClient } from '../../model/access/oauth/grant.ts';
import type { Account } from '../../model/user.ts';
import type { Page } from './common.ts';

export type ArtifactKind = 'request' | 'code' | 'access' | 'refresh';

/** An authorization request under way, a code or a token. Only the SHA-256 of its secret is stored. */
export interface Artifact {
  kind: ArtifactKind;
  hash: Buffer;
  /** null for a request. */
  grantId: string | null;
  /** Network of a request; null for the others. */
  network: string | null;
  /** Sealed at rest. */
  payload: string;
  createdAt: number;
  expiresAt: number;
  consumedAt: number | null;
}

export interface StoredGrant {
  grant: Grant;
  user: Pick<Account, 'id' | 'name' | 'email' | 'role'>;
}

export interface OAuthStore {
  /** Above the bounds of clients without a grant, the oldest of the same network, or of the largest one, gives way. */
  addClient(client: OAuthClient): Promise<void>;
  /** Returns null for one that is over. */
  findClient(id: string, now: number): Promise<OAuthClient | null>;

  /** Adds one and keeps its client. Returns the ids of those that ended for it: the user's, above the bound. */
  addGrant(grant: Grant): Promise<string[]>;
  /** Returns null for one that is not there or over, or whose user is disabled. */
  findGrant(id: string, now: number): Promise<StoredGrant | null>;
  /** Most recently used first; of one user, or of all. Those that are over are left out. */
  listGrants(
    userId: string | null,
    page: Page,
    now: number,
  ): Promise<{ grants: Grant[]; totalCount: number }>;
  /** Moves its end forward only. */
  extendGrant(id: string, expiresAt: number): Promise<void>;
  /** Removes a user's, or with null anybody's, with all that was issued under it. Returns the one that was removed. */
  removeGrant(id: string, userId: string | null): Promise<Grant | null>;
  /** Moves times of use forward only. */
  touchGrants(used: Map<string, number>): Promise<void>;

  /** Adds or replaces one. Above the bounds of its grant, or of requests, the oldest gives way. */
  putArtifact(artifact: Artifact): Promise<void>;
  findArtifact(kind: ArtifactKind, hash: Buffer): Promise<Artifact | null>;
  /** Marks it used. Returns false when it was used before, or is not there: of two at once, one gets true. */
  consumeArtifact(kind: ArtifactKind, hash: Buffer, now: number): Promise<boolean>;
  removeArtifact(kind: ArtifactKind, hash: Buffer): Promise<void>;

  /** Removes what is over. */
  pruneOAuth(now: number): Promise<void>;
}
