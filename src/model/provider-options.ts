/** The operator's options for the code-hosting provider. Secrets come only from the environment or from files. */
import { invalidArgument } from './errors.ts';

export interface ProviderOptions {
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

const PUBLIC_URL = 'https://github.com';
const PUBLIC_API_URL = 'https://api.github.com';
/** Path of the API below a provider's own server. */
const OWN_API_PATH = '/api/v3';

/** Throws `invalid_argument` naming the flag. null: no provider. */
export function parseProviderOptions(
  texts: ProviderTexts,
  clientSecret: string | null,
): ProviderOptions | null {
  const { clientId, clientSecretFile: secretFile } = texts;
  const app = parseApp(texts);
  if (clientId === '') {
    if (secretFile === '' && clientSecret === null && app === null) return null;
    throw missing('--github-client-id', 'Both an OAuth app and a GitHub App have a client id.');
  }
  if (secretFile === '' && clientSecret === null) {
    throw missing('--github-client-secret-file', 'Or set SANDHAVEN_GITHUB_CLIENT_SECRET.');
  }
  const url = parseBaseUrl('--github-url', texts.url);
  const usualApi = url === PUBLIC_URL ? PUBLIC_API_URL : `${url}${OWN_API_PATH}`;
  return {
    url,
    apiUrl: parseBaseUrl('--github-api-url', texts.apiUrl || usualApi, true),
    clientId,
    clientSecret: secretFile === '' ? { value: clientSecret ?? '' } : { file: secretFile },
    app,
  };
}

/** Returns the URL without a slash at its end. Throws `invalid_argument` naming the flag. */
function parseBaseUrl(flag: string, text: string, mayHavePath = false): string {
  const url = URL.parse(text);
  const plain = url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  const bare = url && url.search === '' && url.hash === '' && (mayHavePath || url.pathname === '/');
  if (plain && bare) return url.href.replace(/\/+$/, '');
  throw invalidArgument(flag, `${flag} must be a URL such as ${PUBLIC_URL}, and '${text}' was given.`);
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
