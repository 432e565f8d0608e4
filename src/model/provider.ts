/** The code-hosting provider, and users' authorizations there. Times are milliseconds since the epoch. */
import { invalidArgument } from './errors.ts';

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

// The operator's options for the code-hosting provider. Secrets come only from the environment or from files.

/** The providers that the service knows, each with a folder in `src/provider/`. */
export const providers = {
  github: { title: 'GitHub', url: 'https://github.com', apiOf: gitHubApiOf },
  gitlab: { title: 'GitLab', url: 'https://gitlab.com', apiOf: (url: string) => `${url}/api/v4` },
} as const;

export type ProviderName = keyof typeof providers;
export const providerNames = Object.keys(providers) as ProviderName[];

export interface ProviderOptions {
  name: ProviderName;
  /** Base URLs, without a slash at their ends. */
  url: string;
  apiUrl: string;
  clientId: string;
  clientSecret: { value: string } | { file: string };
  /** Present in the mode of an app. */
  app: { id: string; slug: string; privateKeyFile: string } | null;
}

/** Texts of the flags; an empty one was not given. */
export interface ProviderTexts {
  url: string;
  apiUrl: string;
  clientId: string;
  clientSecretFile: string;
  appId: string;
  appSlug: string;
  appPrivateKeyFile: string;
}

/** Throws `invalid_argument` naming the flag. null: no provider. */
export function parseProviderOptions(
  name: ProviderName,
  texts: ProviderTexts,
  clientSecret: string | null,
): ProviderOptions | null {
  const { clientId, clientSecretFile: secretFile } = texts;
  const app = parseApp(texts);
  if (clientId === '') {
    if (secretFile === '' && clientSecret === null && app === null) return null;
    throw missing(`--${name}-client-id`, 'Whatever is registered at the provider has a client id.');
  }
  if (secretFile === '' && clientSecret === null) {
    throw missing(`--${name}-client-secret-file`, `Or set ${secretVariableOf(name)}.`);
  }
  const { url: usual, apiOf } = providers[name];
  const url = parseBaseUrl(`--${name}-url`, usual, texts.url);
  return {
    name,
    url,
    apiUrl: parseBaseUrl(`--${name}-api-url`, usual, texts.apiUrl || apiOf(url), true),
    clientId,
    clientSecret: secretFile === '' ? { value: clientSecret ?? '' } : { file: secretFile },
    app,
  };
}

/** Throws `invalid_argument` for options of several providers. */
export function oneProvider(given: readonly (ProviderOptions | null)[]): ProviderOptions | null {
  const [one = null, other] = given.filter((options) => options !== null);
  if (other === undefined) return one;
  const flag = `--${other.name}-client-id`;
  throw invalidArgument(flag, `${flag} is one too many: a service has one code-hosting provider.`);
}

/** Environment variable with the client secret. */
export function secretVariableOf(name: ProviderName): string {
  return `SANDHAVEN_${name.toUpperCase()}_CLIENT_SECRET`;
}

/** The public one has a name of its own for its API. */
function gitHubApiOf(url: string): string {
  return url === 'https://github.com' ? 'https://api.github.com' : `${url}/api/v3`;
}

/** Returns the URL without a slash at its end. Throws `invalid_argument` naming the flag. */
function parseBaseUrl(flag: string, example: string, text: string, mayHavePath = false): string {
  const url = URL.parse(text);
  const plain = url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  const bare = url && url.search === '' && url.hash === '' && (mayHavePath || url.pathname === '/');
  if (plain && bare) return url.href.replace(/\/+$/, '');
  throw invalidArgument(flag, `${flag} must be a URL such as ${example}, and '${text}' was given.`);
}

function parseApp({
  appId: id,
  appSlug: slug,
  appPrivateKeyFile: privateKeyFile,
}: ProviderTexts): ProviderOptions['app'] {
  if (id === '' && slug === '' && privateKeyFile === '') return null;
  if (id === '')
    throw missing('--github-app-id', "An app needs its id, its slug and its private key's file.");
  if (slug === '') throw missing('--github-app-slug', 'It is the last part of the URL of the app.');
  if (privateKeyFile === '')
    throw missing('--github-app-private-key-file', 'The provider makes one for the app.');
  return { id, slug, privateKeyFile };
}

function missing(flag: string, hint: string): Error {
  return invalidArgument(
    flag,
    `${flag} is missing: without it the code-hosting provider cannot be used.`,
    hint,
  );
}
