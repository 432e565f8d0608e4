/** GitLab: its documented OAuth, device and REST endpoints behind the port of a code host. It has nothing like GitHub's apps. */
import { z } from 'zod';
import type { Clock, CodeHost, RepositoryVisibility } from '../control/ports/index.ts';
import type { ProviderAccount, ProviderOptions, RepositoryName } from '../model/provider.ts';
import { ask, notAsDocumented } from './http.ts';
import {
  clientSecretOf,
  exchangeCode,
  type OAuthClient,
  pollDevice,
  refreshTokens,
  startDevice,
} from './oauth.ts';

export interface GitLabOptions {
  /** Base URLs without a trailing slash. */
  url: string;
  apiUrl: string;
  clientId: string;
  clientSecret: string;
}

/** As wide as GitHub's `repo`: for Git, for the view of a project, and for programs inside that use the API, such as for merge requests. */
const SCOPE = 'api';

/** Rejects a secret that is unreadable or readable by others with `failed_precondition`. */
export function open(options: ProviderOptions, clock: Clock): CodeHost {
  const { url, apiUrl, clientId } = options;
  return createGitLab({ url, apiUrl, clientId, clientSecret: clientSecretOf(options) }, clock);
}

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

/** Access level of the role Developer, the least one that pushes. */
const DEVELOPER = 30;
/** A project lies in nested groups. */
const MAX_GROUPS = 20;

const user = z.object({ id: z.int().min(1), username: z.string().regex(/^[A-Za-z0-9_.-]{1,255}$/) });
const access = z.object({ access_level: z.int() }).nullish();
const projectReply = z.object({
  visibility: z.enum(['private', 'internal', 'public']),
  permissions: z.object({ project_access: access, group_access: access }).optional(),
});
const lacksScope = z.object({ error: z.literal('insufficient_scope') });

/** Returns null when the token is invalid. */
async function accountOf(apiUrl: string, accessToken: string): Promise<ProviderAccount | null> {
  const url = `${apiUrl}/user`;
  const reply = await ask({ method: 'GET', url, authorization: `Bearer ${accessToken}` });
  if (reply.status === 401) return null;
  const parsed = user.safeParse(reply.body);
  if (reply.status !== 200 || !parsed.success) throw notAsDocumented(url, reply);
  return { id: String(parsed.data.id), login: parsed.data.username };
}

async function repositoryVisibility(
  apiUrl: string,
  accessToken: string,
  { owner, name }: RepositoryName,
): Promise<RepositoryVisibility> {
  const url = `${apiUrl}/projects/${encodeURIComponent(`${owner}/${name}`)}`;
  const reply = await ask({ method: 'GET', url, authorization: `Bearer ${accessToken}` });
  const { status } = reply;
  if (status === 401) return { kind: 'revoked' };
  if (status === 403 || status === 404) {
    return { kind: 'hidden', scopes: lacksScope.safeParse(reply.body).success ? [] : null };
  }
  if (status >= 300 && status < 400) return { kind: 'moved' };
  const parsed = projectReply.safeParse(reply.body);
  if (status !== 200 || !parsed.success) throw notAsDocumented(url, reply);
  const { visibility, permissions } = parsed.data;
  const levels = [permissions?.project_access, permissions?.group_access].map((at) => at?.access_level ?? 0);
  return {
    kind: 'seen',
    isPrivate: visibility !== 'public',
    mayPush: Math.max(...levels) >= DEVELOPER,
    scopes: null,
  };
}

/** Returns null when the path is not that of a project; `owner` has its groups. A wiki is the project's own. */
export function projectOfPath(path: string): RepositoryName | null {
  const parts = path.replace(/^\/+|\/+$/g, '').split('/');
  const name = (parts.pop() ?? '').replace(/\.git$/, '').replace(/\.wiki$/, '');
  const isPart = (part: string) => /^[A-Za-z0-9_.-]{1,255}$/.test(part) && !/^\.*$/.test(part);
  if (parts.length === 0 || parts.length > MAX_GROUPS || ![...parts, name].every(isPart)) return null;
  return { owner: parts.join('/'), name };
}
