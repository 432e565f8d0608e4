/** GitLab: its documented OAuth, device and REST endpoints behind the port of a code host. It has no app of its own kind. */
import type { Clock, CodeHost } from '../../control/ports/index.ts';
import { ask } from '../http.ts';
import { exchangeCode, type OAuthClient, pollDevice, refreshTokens, startDevice } from '../oauth.ts';
import { accountOf, projectOfPath, repositoryVisibility } from './project.ts';

export interface GitLabOptions {
  /** Base URLs without a trailing slash. */
  url: string;
  apiUrl: string;
  clientId: string;
  clientSecret: string;
}

/** As wide as GitHub's `repo`: for Git, for the view of a project, and for programs inside that use the API, such as for merge requests. */
const SCOPE = 'api';

export function createGitLab({ url, apiUrl, clientId, clientSecret }: GitLabOptions, clock: Clock): CodeHost {
  const client: OAuthClient = {
    ...{ clientId, clientSecret, clock },
    tokenUrl: `${url}/oauth/token`,
    deviceUrl: `${url}/oauth/authorize_device`,
    codeForm: { grant_type: 'authorization_code' },
    ownWords: {},
    remedies: {
      invalid_client: 'check the client id and the client secret',
      invalid_scope: `tick the scope ${SCOPE} of the application there`,
      unauthorized_client: 'make the application there a confidential one',
    },
  };
  return {
    name: 'gitlab',
    ...{ url, apiUrl },
    apiRoot: apiUrl.replace(/\/api\/v4$/, '/api'),
    gitUsername: 'oauth2',
    tokenVariable: 'GITLAB_TOKEN',
    mode: 'oauth',
    scope: SCOPE,
    installUrl: null,
    repositoryOf: projectOfPath,
    authorizationUrl({ state, challenge, redirectUri }) {
      const query = new URLSearchParams({
        client_id: clientId,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: SCOPE,
        state,
        code_challenge: challenge,
        code_challenge_method: 'S256',
      });
      return `${url}/oauth/authorize?${query}`;
    },
    exchange: (asked) => exchangeCode(client, asked),
    startDevice: () => startDevice(client, SCOPE),
    pollDevice: (deviceCode) => pollDevice(client, deviceCode),
    refresh: (refreshToken) => refreshTokens(client, refreshToken),
    account: (accessToken) => accountOf(apiUrl, accessToken),
    async revoke(accessToken) {
      const form = { client_id: clientId, client_secret: clientSecret, token: accessToken };
      const { status } = await ask({ method: 'POST', url: `${url}/oauth/revoke`, form });
      return status === 200;
    },
    visibility: (accessToken, project) => repositoryVisibility(apiUrl, accessToken, project),
    installationToken: async () => ({ kind: 'not-installed' }),
    forgetInstallation() {},
  };
}
