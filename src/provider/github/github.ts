/** GitHub-compatible provider: its documented OAuth, device, REST and app endpoints behind the port of a code host. */
import { createPrivateKey } from 'node:crypto';
import type { Clock, CodeHost } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import { App } from './app.ts';
import { ask } from './http.ts';
import { exchangeCode, pollDevice, refreshTokens, startDevice } from './oauth.ts';
import { accountOf, lookAt } from './repository.ts';

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

/** Rejects an invalid private key of the app with `failed_precondition`. */
export function createGitHub(options: GitHubOptions, clock: Clock): CodeHost {
  const { url, apiUrl, clientId, clientSecret, app } = options;
  const client = { url, clientId, clientSecret, clock };
  const api = { url, apiUrl };
  const scope = app === null ? SCOPE : null;
  const installed = app && new App({ ...app, privateKey: privateKeyOf(app.privateKeyPem) }, apiUrl, clock);
  return {
    name: 'github',
    ...{ url, apiUrl },
    mode: app === null ? 'oauth' : 'app',
    scope,
    installUrl: app && `${url}/apps/${encodeURIComponent(app.slug)}/installations/new`,
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
    look: (accessToken, repository) => lookAt(api, accessToken, repository),
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
