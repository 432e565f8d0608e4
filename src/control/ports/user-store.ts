/**
 * Stores of users, of their API keys and deletions, and of teams. A deletion is under way until nothing of a user is
 * left.
 */

import type { Maker } from '../../model/access/ways-in.ts';
import type { Membership, Team, TeamMember, TeamRole } from '../../model/team.ts';
import type { Account, ApiKey, Caller } from '../../model/user.ts';
import type { Page } from './common.ts';

export type AccountPatch = Partial<Omit<Account, 'id' | 'createdAt'>>;

export interface UserStore {
  /** Rejects with `already_exists` when a user has this id, or this email in any case. */
  insertUser(account: Account): Promise<void>;
  firstUser(): Promise<Account | null>;
  /** Finds by id or by email, in any case. */
  findUser(idOrEmail: string): Promise<Account | null>;
  /** Lists in the order of creation. */
  listUsers(page: Page): Promise<{ users: Account[]; totalCount: number }>;
  /**
   * Applies `change` to the stored user, in one transaction. Returns null for an unknown id. Rejects with
   * `failed_precondition` when no enabled admin would be left, or to enable a user who is being deleted; with `already_exists` for
   * an email that is taken.
   */
  updateUser(id: string, change: (account: Account) => AccountPatch): Promise<Account | null>;
}

/** No scopes are all; without a team the key is bound to none; without a maker it is its user's own. */
export type KeyDetails = Pick<ApiKey, 'name' | 'createdAt' | 'expiresAt'> &
  Partial<Pick<ApiKey, 'scopes' | 'teamId'>> & { by?: Maker | null };

/** Keys are stored as SHA-256 hashes and compared in constant time. */
export interface KeyStore {
  /**
   * Adds a key; leaves a known key of this user unchanged, also a revoked one. Rejects with `already_exists` for
   * another user's key, with `permission_denied` for one by a maker who only invites, and whose user has had a way in.
   * Forgets the longest dead keys of a user with very many.
   */
  add(userId: string, apiKey: string, details: KeyDetails): Promise<ApiKey>;
  /**
   * Returns null for a key that is unknown, revoked or expired, or whose user is disabled. Otherwise the user has come in
   * from then on.
   */
  callerOf(apiKey: string, now: number): Promise<Caller | null>;
  find(id: string): Promise<ApiKey | null>;
  /** Newest first; of one user, or of all. */
  list(userId: string | null, page: Page): Promise<{ keys: ApiKey[]; totalCount: number }>;
  /** Counts a user's keys that are neither revoked nor expired. */
  countLive(userId: string, now: number): Promise<number>;
  /** Counts those of them that sign a browser in: not bound to a team. */
  countOpening(userId: string, now: number): Promise<number>;
  /** Returns null when there is none. The time of the first revocation stays. */
  revoke(id: string, now: number): Promise<ApiKey | null>;
  /** Moves times forward only. */
  touch(used: Map<string, number>): Promise<void>;
}

export interface UserDeletion extends Pick<Account, 'id' | 'name' | 'email'> {
  /** Id of the admin. */
  deletedBy: string;
  /** User or team that sandboxes and snapshots go to; null: they are deleted. */
  heirId: string | null;
  begunAt: number;
  /** null: it is under way. */
  endedAt: number | null;
}

/** Numbers of what goes with a user. */
export interface OwnedByUser {
  sandboxes: number;
  snapshots: number;
  secrets: number;
  webhooks: number;
  /** Keys that were not revoked. */
  keys: number;
  /** Teams that the user is in. */
  teams: number;
}

export interface UserDeletionStore {
  owned(id: string): Promise<OwnedByUser>;
  /**
   * Notes the deletion, and disables the user until it has ended; where it is under way, changes the heir alone, if one is
   * given. Returns null for an unknown id. Rejects with `failed_precondition` when no enabled admin would be left, for an heir
   * that is gone, disabled or a viewer, and for a user who is the heir of another one.
   */
  begin(id: string, by: string, now: number, heirId: string | null): Promise<UserDeletion | null>;
  /** Returns what goes to an heir and has a name that the heir uses, such as "sandbox 'box'"; at most `limit`. */
  taken(id: string, heirId: string, limit: number): Promise<string[]>;
  /** Oldest first. */
  underWay(): Promise<UserDeletion[]>;
  /**
   * Removes the user and the rest of what is theirs, in one transaction. Returns false, without a change, while they own
   * sandboxes or snapshots; true also for one who is gone.
   */
  finish(id: string, now: number): Promise<boolean>;
  /** Finds by id or by email, in any case, the last one of it. */
  find(idOrEmail: string): Promise<UserDeletion | null>;
}

/** Store of teams and their members. */
export type TeamPatch = Partial<Pick<Team, 'name' | 'quota'>>;

export interface TeamStore {
  /** Rejects with `already_exists` for a name that is taken, in any case; with `resource_exhausted` above the bound. */
  insert(team: Team): Promise<void>;
  /** Finds by id, or by name in any case. */
  find(idOrName: string): Promise<Team | null>;
  /** Lists in the order of creation; of one user, or all. */
  list(userId: string | null, page: Page): Promise<{ teams: Team[]; totalCount: number }>;
  /** Applies `change` in one transaction; null for an unknown id. Rejects with `already_exists` like `insert`. */
  update(id: string, change: (team: Team) => TeamPatch): Promise<Team | null>;
  /**
   * Removes the team with its memberships and its keys. Rejects with `failed_precondition` while it owns sandboxes or
   * snapshots. Returns false for an unknown id.
   */
  remove(id: string): Promise<boolean>;
  /** Lists by the time of joining. */
  members(id: string): Promise<TeamMember[]>;
  /**
   * Adds the user, or changes the role of one who is there. Returns the role before; null for none. Rejects with
   * `resource_exhausted` above a bound.
   */
  setMember(id: string, userId: string, role: TeamRole, now: number): Promise<TeamRole | null>;
  /** Returns false for a user who was not there. */
  removeMember(id: string, userId: string): Promise<boolean>;
  /** Returns null for a team that the user is not in, as for one that is not there. Finds like `find`. */
  membership(idOrName: string, userId: string): Promise<Membership | null>;
}
