/** Store of linked identities, and of secrets that work once. */
import type { Identity, LinkedIdentity, ProviderLogout } from '../../../model/access/identity.ts';
import type { Maker } from '../../../model/access/ways-in.ts';
import type { Account } from '../../../model/user.ts';
import type { Page } from '../common.ts';

export type EndedSessions = Pick<ProviderLogout, 'issuer' | 'subject' | 'sid'>;

/** Hash of a secret that works once. */
export interface OneTimeProof {
  hash: Buffer;
  /** It is forgotten afterwards. */
  expiresAt: number;
  now: number;
}

export interface IdentityStore {
  /** Returns null for an identity that is not linked. */
  findUserOf(identity: Identity): Promise<Account | null>;
  /**
   * Adds a user with this identity, in one transaction; returns the user of an identity that is linked already. Rejects
   * with `already_exists` when a user has the email, with `resource_exhausted` above the bound of all identities.
   */
  enrol(account: Account, identity: Identity): Promise<Account>;
  /**
   * Links an identity with a user. Rejects with `already_exists` for one that is linked with another user, with
   * `resource_exhausted` above the bound of one user, with `permission_denied` where the maker only invites, and the user has
   * had a way in.
   */
  link(identity: Omit<LinkedIdentity, 'linkedBy'>, by: Maker | null): Promise<void>;
  /** Returns the one that was removed. */
  unlink(identity: Identity): Promise<LinkedIdentity | null>;
  /** Newest first; of one user, or of all. */
  listIdentities(
    userId: string | null,
    page: Page,
  ): Promise<{ identities: LinkedIdentity[]; totalCount: number }>;
  /**
   * Removes sign-ins that came from these sessions. Returns their ids; null, without a change, where `proof` was used before.
   * Both are one transaction.
   */
  removeSignInsOf(ended: EndedSessions, proof?: OneTimeProof): Promise<string[] | null>;
  /** Returns false for one that was used before. */
  useOnce(proof: OneTimeProof): Promise<boolean>;
}
