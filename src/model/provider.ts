/** The code-hosting provider, and what a user has allowed there. Times are milliseconds since the epoch. */

/** `oauth`: the tokens of users. `app`: an app that is installed at repositories, which users are let into. */
export type ProviderMode = 'oauth' | 'app';

export interface ProviderTokens {
  accessToken: string;
  /** null: does not expire. */
  accessExpiresAt: number | null;
  /** null: cannot be renewed. */
  refreshToken: string | null;
  refreshExpiresAt: number | null;
  /** As the provider granted them; none for an app. */
  scopes: string[];
}

/** Whom the tokens stand for at the provider. */
export interface ProviderAccount {
  id: string;
  login: string;
}

/** One user's one-time authorization at one provider. */
export interface Authorization {
  /** "auth_" and 16 of [0-9a-z]; another authorization is another id. */
  id: string;
  userId: string;
  /** The provider's base URL: tokens of one are never shown to another. */
  provider: string;
  account: ProviderAccount;
  tokens: ProviderTokens;
  createdAt: number;
  updatedAt: number;
}

/** owner/name of a repository at the provider. */
export interface RepositoryName {
  owner: string;
  name: string;
}

/** null when the path is not that of a repository. A wiki is the repository's own. */
export function repositoryOfPath(path: string): RepositoryName | null {
  const part = '[A-Za-z0-9_.-]{1,100}';
  const [, owner = '', whole = ''] = new RegExp(`^/+(${part})/+(${part})/*$`).exec(path) ?? [];
  const name = whole.replace(/\.git$/, '').replace(/\.wiki$/, '');
  const isDots = (text: string) => /^\.*$/.test(text);
  return isDots(owner) || isDots(name) ? null : { owner, name };
}
