/** What the operator says of the code-hosting provider. Secrets come from the environment or from files alone. */
import { invalidArgument } from './errors.ts';

export interface ProviderOptions {
  /** Base URLs, without a slash at their ends. */
  url: string;
  apiUrl: string;
  clientId: string;
  clientSecret: { value: string } | { file: string };
  /** Given in the mode of an app. */
  app: { id: string; slug: string; privateKeyFile: string } | null;
}

/** Each is an environment variable too. */
export const providerFlags = {
  'github-url': { default: 'https://github.com', help: 'code-hosting provider' },
  'github-api-url': { default: '', help: 'its API, when it is not where its kind has it' },
  'github-client-id': {
    default: '',
    help: 'what the provider knows this service by; without it there is none',
  },
  'github-client-secret-file': { default: '', help: 'file, or SANDHAVEN_GITHUB_CLIENT_SECRET itself' },
  'github-app-id': { default: '', help: 'id of an app that is installed at repositories' },
  'github-app-slug': { default: '', help: "name of that app in the provider's URLs" },
  'github-app-private-key-file': { default: '', help: "that app's private key" },
};

type FlagName = keyof typeof providerFlags;

const PUBLIC_URL = providerFlags['github-url'].default;
const PUBLIC_API_URL = 'https://api.github.com';
/** Below a provider's own server. */
const OWN_API_PATH = '/api/v3';

/** Fails with `invalid_argument` naming the flag. null: there is no provider. */
export function parseProviderOptions(
  value: (flag: FlagName) => string,
  clientSecret: string | null,
): ProviderOptions | null {
  const clientId = value('github-client-id');
  const secretFile = value('github-client-secret-file');
  const app = parseApp(value);
  if (clientId === '') {
    if (secretFile === '' && clientSecret === null && app === null) return null;
    throw missing('--github-client-id', 'Both an OAuth app and a GitHub App have a client id.');
  }
  if (secretFile === '' && clientSecret === null) {
    throw missing('--github-client-secret-file', 'Or set SANDHAVEN_GITHUB_CLIENT_SECRET.');
  }
  const url = parseBaseUrl('--github-url', value('github-url'));
  const usualApi = url === PUBLIC_URL ? PUBLIC_API_URL : `${url}${OWN_API_PATH}`;
  return {
    url,
    apiUrl: parseBaseUrl('--github-api-url', value('github-api-url') || usualApi, true),
    clientId,
    clientSecret: secretFile === '' ? { value: clientSecret ?? '' } : { file: secretFile },
    app,
  };
}

/** Without a slash at its end. Fails with `invalid_argument` naming the flag. */
function parseBaseUrl(flag: string, text: string, mayHavePath = false): string {
  const url = URL.parse(text);
  const plain = url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  const bare = url && url.search === '' && url.hash === '' && (mayHavePath || url.pathname === '/');
  if (plain && bare) return url.href.replace(/\/+$/, '');
  throw invalidArgument(flag, `${flag} must be a URL such as ${PUBLIC_URL}, and '${text}' was given.`);
}

function parseApp(value: (flag: FlagName) => string): ProviderOptions['app'] {
  const [id, slug, privateKeyFile] = [
    value('github-app-id'),
    value('github-app-slug'),
    value('github-app-private-key-file'),
  ];
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
