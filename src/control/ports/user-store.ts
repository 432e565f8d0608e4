/** What is kept of users and of their API keys. */
import type { Account, ApiKey, Caller } from '../../model/user.ts';
import type { Page } from './common.ts';

export type AccountPatch = Partial<Omit<Account, 'id' | 'createdAt'>>;

export interface UserStore {
  /** Fails with `already_exists` when there is a user of this id, or of this email in whatever case. */
  insertUser(account: Account): Promise<void>;
  firstUser(): Promise<Account | null>;
  /** By id or by email, in whatever case. */
  findUser(idOrEmail: string): Promise<Account | null>;
  /** In the order in which they came. */
  listUsers(page: Page): Promise<{ users: Account[]; totalCount: number }>;
  /**
   * Applies what `change` says of the stored user, in one transaction. null when there is none of this id. Fails with `failed_precondition` when no enabled admin would be left, with
   * `already_exists` for an email that is taken.
   */
  updateUser(id: string, change: (account: Account) => AccountPatch): Promise<Account | null>;
}

export type KeyDetails = Pick<ApiKey, 'name' | 'createdAt' | 'expiresAt'>;

/** Keys are stored as SHA-256 hashes and compared in constant time. */
export interface KeyStore {
  /**
   * One of this user that is known already stays as it is, also when it was revoked. Fails with `already_exists` for
   * another user's. Of very many of one user, those that were dead the longest are forgotten.
   */
  add(userId: string, apiKey: string, details: KeyDetails): Promise<ApiKey>;
  /** null for a key that never was, was revoked or has expired, or whose user is disabled. */
  callerOf(apiKey: string, now: number): Promise<Caller | null>;
  find(id: string): Promise<ApiKey | null>;
  /** Newest first; of one user, or of all. */
  list(userId: string | null, page: Page): Promise<{ keys: ApiKey[]; totalCount: number }>;
  /** How many of a user are neither revoked nor expired. */
  countLive(userId: string, now: number): Promise<number>;
  /** null when there is none. The time of the first revocation stays. */
  revoke(id: string, now: number): Promise<ApiKey | null>;
  /** Later times only move forward. */
  touch(used: Map<string, number>): Promise<void>;
}
