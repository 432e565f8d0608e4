/** The team's identity provider, for people who sign in with a browser, and the store of what it vouched for. */
import type {
  Identity,
  IdentityClaims,
  IdentityProviderLogout,
  LinkedIdentity,
  SignInProof,
} from '../../model/access/identity.ts';
import type { Maker } from '../../model/access/ways-in.ts';
import type { Account } from '../../model/user.ts';
import type { Page } from './common.ts';

/** All methods reject with `unavailable` while the provider does not answer, or answers with something else. */
export interface IdentityProvider {
  /** URL without a slash at its end. */
  readonly issuer: string;
  /** Name for people. */
  readonly name: string;
  /** Returns the URL at the provider where a person signs in. */
  begin(redirectUri: string, proof: SignInProof): Promise<string>;
  /**
   * Verifies the answer that the browser returned with, and fetches the claims for it. Rejects with `permission_denied`
   * where the provider refuses the person, with `unauthenticated` for an answer that does not belong to the proof.
   * @param returned The redirect URI, with the query of the browser's request.
   */
  finish(returned: URL, proof: SignInProof): Promise<IdentityClaims>;
  /** Verifies a logout token. Rejects with `invalid_argument`. */
  readLogout(token: string): Promise<IdentityProviderLogout>;
}

/** Store of linked identities, and of secrets that work once. */
export type EndedSessions = Pick<IdentityProviderLogout, 'issuer' | 'subject' | 'sid'>;

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
