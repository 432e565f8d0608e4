/** GitHub-compatible provider: its documented OAuth, device, REST and app endpoints behind the port of a code host. */
import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import type { Clock, CodeHost, RepositoryVisibility } from '../control/ports/index.ts';
import { SandhavenError } from '../model/errors.ts';
import type { ProviderAccount, ProviderOptions, RepositoryName } from '../model/provider.ts';
import { readSecretFile } from '../outbound/secret-file.ts';
import { App, ask } from './github-app.ts';
import { notAsDocumented, type Reply } from './http.ts';
import {
  clientSecretOf,
  exchangeCode,
  type OAuthClient,
  pollDevice,
  refreshTokens,
  scopesOf,
  startDevice,
} from './oauth.ts';

export interface GitHubOptions {
  /** Base URLs without a trailing slash. */
  url: string;
  apiUrl: string;
  clientId: string;
  clientSecret: string;
  /** The app; null in OAuth mode. */
  app: { id: string; slug: string; privateKeyPem: string } | null;
}

/** Scope to read and write repositories; no scope exists that only reads private ones. */
const SCOPE = 'repo';

const OWN_WORDS = {
  bad_verification_code: 'invalid_grant',
  bad_refresh_token: 'invalid_grant',
  incorrect_device_code: 'expired_token',
};

const REMEDIES = {
  incorrect_client_credentials: 'check the client id and the client secret',
  redirect_uri_mismatch: "register the service's callback URL there, and check --public-url",
  device_flow_disabled: 'enable the device flow in the settings of the app there',
};

/** Rejects an invalid private key of the app with `failed_precondition`. */
export function createGitHub(options: GitHubOptions, clock: Clock): CodeHost {
  const { url, apiUrl, clientId, clientSecret, app } = options;
  const client: OAuthClient = {
    ...{ clientId, clientSecret, clock },
    tokenUrl: `${url}/login/oauth/access_token`,
    deviceUrl: `${url}/login/device/code`,
    codeForm: {},
    ownWords: OWN_WORDS,
    remedies: REMEDIES,
  };
  const api = { url, apiUrl };
  const scope = app === null ? SCOPE : null;
  const installed = app && new App({ ...app, privateKey: privateKeyOf(app.privateKeyPem) }, apiUrl, clock);
  return {
    name: 'github',
    ...{ url, apiUrl },
    // A server of its own has GraphQL and uploads beside the REST API.
    apiRoot: apiUrl.replace(/\/api\/v3$/, '/api'),
    gitUsername: 'x-access-token',
    tokenVariable: 'GITHUB_TOKEN',
    mode: app === null ? 'oauth' : 'app',
    scope,
    installUrl: app && `${url}/apps/${encodeURIComponent(app.slug)}/installations/new`,
    repositoryOf: repositoryOfPath,
    authorizationUrl({ state, challenge, redirectUri }) {
      const query = new URLSearchParams({
        client_id: clientId,
        redirect_uri: redirectUri,
        ...(scope === null ? {} : { scope }),
        state,
        code_challenge: challenge,
        code_challenge_method: 'S256',
      });
      return `${url}/login/oauth/authorize?${query}`;
    },
    exchange: (asked) => exchangeCode(client, asked),
    startDevice: () => startDevice(client, scope),
    pollDevice: (deviceCode) => pollDevice(client, deviceCode),
    refresh: (refreshToken) => refreshTokens(client, refreshToken),
    account: (accessToken) => accountOf(api, accessToken),
    async revoke(accessToken) {
      const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
      const { status } = await ask({
        method: 'DELETE',
        url: `${apiUrl}/applications/${encodeURIComponent(clientId)}/token`,
        authorization: `Basic ${basic}`,
        json: { access_token: accessToken },
      });
      // 404 and 422: no such token at the provider.
      return [204, 404, 422].includes(status);
    },
    visibility: (accessToken, repository) => repositoryVisibility(api, accessToken, repository),
    async installationToken(repository, contents) {
      return installed ? installed.token(repository, contents) : { kind: 'not-installed' };
    },
    forgetInstallation: (repository) => installed?.forget(repository),
  };
}

function privateKeyOf(pem: string) {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'rsa') return key;
  } catch {
    // Without the cause: the parser's message may contain parts of the key.
  }
  throw new SandhavenError('failed_precondition', 'The private key of the app is not an RSA key.', {
    parameter: '--github-app-private-key-file',
    hint: 'Give the .pem file that the provider created for the app.',
  });
}

/**
 * Opens GitHub from the operator's options, with its secrets read from their files. Rejects a secret that is
 * unreadable, readable by others, or invalid with `failed_precondition`.
 */
export function open(options: ProviderOptions, clock: Clock): CodeHost {
  const { url, apiUrl, clientId, app } = options;
  return createGitHub(
    {
      ...{ url, apiUrl, clientId, clientSecret: clientSecretOf(options) },
      app: app && {
        id: app.id,
        slug: app.slug,
        privateKeyPem: readSecretFile('--github-app-private-key-file', app.privateKeyFile),
      },
    },
    clock,
  );
}

interface Api {
  url: string;
  apiUrl: string;
}

const user = z.object({ id: z.int().min(1), login: z.string().regex(/^[A-Za-z0-9_-]{1,100}$/) });
const repositoryReply = z.object({
  private: z.boolean(),
  permissions: z.object({ push: z.boolean().default(false) }).optional(),
});

/** The account of a user's token; null when the token is invalid. */
async function accountOf({ apiUrl }: Api, accessToken: string): Promise<ProviderAccount | null> {
  const url = `${apiUrl}/user`;
  const reply = await ask({ method: 'GET', url, authorization: `Bearer ${accessToken}` });
  if (reply.status === 401) return null;
  const parsed = user.safeParse(reply.body);
  if (reply.status !== 200 || !parsed.success) throw notAsDocumented(url, reply);
  return { id: String(parsed.data.id), login: parsed.data.login };
}

/** One repository, with the permissions of the token's user. */
async function repositoryVisibility(
  api: Api,
  accessToken: string,
  repository: RepositoryName,
): Promise<RepositoryVisibility> {
  const url = `${api.apiUrl}/repos/${repository.owner}/${repository.name}`;
  const reply = await ask({ method: 'GET', url, authorization: `Bearer ${accessToken}` });
  const header = reply.headers.get('x-oauth-scopes');
  const scopes = header === null ? null : scopesOf(header);
  const { status } = reply;
  if (status === 401) return { kind: 'revoked' };
  if (status === 403 && reply.headers.has('x-github-sso')) {
    return { kind: 'sign-on', url: signOnUrl(reply, api.url) };
  }
  if (status === 403 || status === 404 || status === 451) return { kind: 'hidden', scopes };
  if (status >= 300 && status < 400) return { kind: 'moved' };
  const parsed = repositoryReply.safeParse(reply.body);
  if (status !== 200 || !parsed.success) throw notAsDocumented(url, reply);
  const { private: isPrivate, permissions } = parsed.data;
  return { kind: 'seen', isPrivate, mayPush: permissions?.push ?? false, scopes };
}

/** Returns null when the path is not that of a repository. A wiki is the repository's own. */
export function repositoryOfPath(path: string): RepositoryName | null {
  const part = '[A-Za-z0-9_.-]{1,100}';
  const [, owner = '', whole = ''] = new RegExp(`^/+(${part})/+(${part})/*$`).exec(path) ?? [];
  const name = whole.replace(/\.git$/, '').replace(/\.wiki$/, '');
  const isDots = (text: string) => /^\.*$/.test(text);
  return isDots(owner) || isDots(name) ? null : { owner, name };
}

/** Returns the sign-on URL only when it has the provider's own origin: a person opens it. */
function signOnUrl({ headers }: Reply, providerUrl: string): string | null {
  const [, text = ''] = /\burl=(\S+)/.exec(headers.get('x-github-sso') ?? '') ?? [];
  const url = URL.parse(text);
  return url && url.origin === new URL(providerUrl).origin ? url.href : null;
}
