/** Stores of sign-ins: of browsers, by one-time links, of machines without a browser, and of applications by OAuth. */
import type { IdentityProviderSession } from '../../model/access/identity.ts';
import type { Grant, OAuthClient } from '../../model/access/oauth.ts';
import type { SignIn, SignInTokens } from '../../model/access/sign-ins.ts';
import type { DeviceAnswer, DeviceGrant, DeviceSignIn, Maker } from '../../model/access/ways-in.ts';
import type { Scope } from '../../model/scopes.ts';
import type { Account } from '../../model/user.ts';
import type { Page } from './common.ts';

export interface StoredSignIn {
  signIn: SignIn;
  tokens: SignInTokens;
  user: Pick<Account, 'id' | 'name' | 'email' | 'role'>;
  /** Scopes of the key that it was opened with; null: all. */
  scopes: readonly Scope[] | null;
}

export interface NewLink {
  now: number;
  expiresAt: number;
  /** null: the user. */
  by: Maker | null;
}

export interface TakenLink {
  userId: string;
  /** Id of the admin who made it; null: the user. */
  createdBy: string | null;
}

export interface SignInStore {
  /**
   * Adds one: the user has come in from then on. Returns the ids of those that ended for it: the user's, above the bound.
   * @param session The session at the identity provider that it came from, and ends with; it also names who linked them.
   */
  addSignIn(signIn: SignIn, tokens: SignInTokens, session?: IdentityProviderSession): Promise<string[]>;
  /** Returns null for one that is not there, whose user is disabled, or whose key is revoked or expired. */
  findSignIn(id: string, now: number): Promise<StoredSignIn | null>;
  /** Replaces the tokens if the stored ones are still `before`; false when they are not. */
  replaceTokens(id: string, before: SignInTokens, after: SignInTokens): Promise<boolean>;
  /** Most recently used first; of one user, or of all. */
  listSignIns(userId: string | null, page: Page): Promise<{ signIns: SignIn[]; totalCount: number }>;
  /** Removes a user's, or with null anybody's. Returns the one that was removed. */
  removeSignIn(id: string, userId: string | null): Promise<SignIn | null>;
  /** Removes those that a key has opened. Returns their ids. */
  removeSignInsOfKey(keyId: string): Promise<string[]>;
  /** Removes those of a user but one. Returns their ids. */
  removeOtherSignIns(userId: string, keptId: string): Promise<string[]>;
  /** Moves times of use forward only. */
  touchSignIns(used: Map<string, number>): Promise<void>;
  /** Removes sign-ins and links that are over, and sign-ins last used before `idleSince`. */
  pruneSignIns(now: number, idleSince: number): Promise<void>;

  /**
   * Keeps a link's hash; the user's oldest ones give way above the bound. Rejects with `permission_denied` one by a maker who
   * only invites, for a user who has had a way in.
   */
  addLink(hash: Buffer, userId: string, link: NewLink): Promise<void>;
  /** Uses the link up. Returns null for one that is unknown, used or over. */
  takeLink(hash: Buffer, now: number): Promise<TakenLink | null>;
}

/** Store of sign-ins of machines without a browser. */
export interface DeviceSignInStore {
  /**
   * Adds one under the hash of its secret, after the removal of those that are over. Returns false when the network has as
   * many as it may. Above the bound of all networks, the oldest one of the network that has most gives way.
   */
  addDeviceSignIn(hash: Buffer, signIn: DeviceSignIn, network: string): Promise<boolean>;
  /** Returns one that waits for its user; null for one that is unknown, over or decided. */
  findDeviceSignIn(userCode: string, now: number): Promise<DeviceSignIn | null>;
  /** Decides one that waits: a grant, or null for no. Returns false for one that is unknown, over or decided. */
  decideDeviceSignIn(userCode: string, grant: DeviceGrant | null, now: number): Promise<boolean>;
  /** Returns the answer for the machine, and removes one that is decided: each grant is given out once. */
  takeDeviceAnswer(hash: Buffer, now: number): Promise<DeviceAnswer>;
}

/** Store of OAuth: registered clients, grants, and what is issued under them. */
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
