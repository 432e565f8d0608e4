/** People at the team's identity provider. A person is the pair of issuer and subject, never an e-mail address. */
import type { User } from '../user.ts';

/** Path at which the provider sends browsers back. */
export const CALLBACK_PATH = '/v1/sign-in/provider/callback';

export interface Identity {
  /** URL of the provider, without a slash at its end. */
  issuer: string;
  /** The provider's name for the person, which it gives to nobody else. */
  subject: string;
}

/** An identity that signs in as a user. */
export interface LinkedIdentity extends Identity {
  userId: string;
  linkedAt: number;
  /** Id of the admin who linked it; null: the person signed in. */
  linkedBy: string | null;
}

/** The session at the provider that a sign-in came from. */
export interface IdentityProviderSession extends Identity {
  /** null: the provider names none. */
  sid: string | null;
}

/** Facts that the provider states about a person at a sign-in. */
export interface IdentityClaims extends IdentityProviderSession {
  name: string | null;
  email: string | null;
  /** null: the provider does not say. */
  emailVerified: boolean | null;
  /** null: the provider names none. */
  groups: readonly string[] | null;
}

/** An end of sessions that the provider reports: of one session, or of all of a subject. */
export interface IdentityProviderLogout {
  issuer: string;
  subject: string | null;
  sid: string | null;
  /** The provider's id of this report. */
  tokenId: string;
  /** End of the time in which the report is accepted. */
  expiresAt: number;
}

/** Secrets of one sign-in under way, which bind its two halves together. */
export interface SignInProof {
  state: string;
  nonce: string;
  /** Of PKCE. */
  verifier: string;
}

/** A linked identity for people. */
export interface OwnedIdentity {
  identity: LinkedIdentity;
  user: User;
}
