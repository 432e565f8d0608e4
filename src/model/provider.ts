/** The code-hosting provider, and users' authorizations there. Times are milliseconds since the epoch. */

/** `oauth`: the tokens of users. `app`: an app installed at repositories, to which users need access of their own. */
export type ProviderMode = 'oauth' | 'app';

export interface ProviderTokens {
  accessToken: string;
  /** null: does not expire. */
  accessExpiresAt: number | null;
  /** null: cannot be renewed. */
  refreshToken: string | null;
  refreshExpiresAt: number | null;
  /** Scopes that the provider granted; none for an app. */
  scopes: string[];
}

/** The account at the provider behind the tokens. */
export interface ProviderAccount {
  id: string;
  login: string;
}

/** One user's one-time authorization at one provider. */
export interface Authorization {
  /** "auth_" and 16 of [0-9a-z]; another authorization has another id. */
  id: string;
  userId: string;
  /** The provider's base URL: tokens of one provider are never sent to another. */
  provider: string;
  account: ProviderAccount;
  tokens: ProviderTokens;
  createdAt: number;
  updatedAt: number;
}

/** The end of an authorization that was under way. */
export type AuthorizationOutcome =
  | { status: 'authorized'; account: ProviderAccount }
  | { status: 'denied'; reason: string };

/** owner/name of a repository at the provider; the owner may have parts, with slashes between. */
export interface RepositoryName {
  owner: string;
  name: string;
}
