/** Views with a user's token: the account, and one repository with the user's permissions. */
import { z } from 'zod';
import type { Sight } from '../../control/ports/index.ts';
import type { ProviderAccount, RepositoryName } from '../../model/provider.ts';
import { ask, notAsDocumented, type Reply } from './http.ts';
import { scopesOf } from './oauth.ts';

export interface Api {
  url: string;
  apiUrl: string;
}

const user = z.object({ id: z.int().min(1), login: z.string().regex(/^[A-Za-z0-9_-]{1,100}$/) });
const repositoryReply = z.object({
  private: z.boolean(),
  permissions: z.object({ push: z.boolean().default(false) }).optional(),
});

/** Returns null when the token is invalid. */
export async function accountOf({ apiUrl }: Api, accessToken: string): Promise<ProviderAccount | null> {
  const url = `${apiUrl}/user`;
  const reply = await ask({ method: 'GET', url, authorization: `Bearer ${accessToken}` });
  if (reply.status === 401) return null;
  const parsed = user.safeParse(reply.body);
  if (reply.status !== 200 || !parsed.success) throw notAsDocumented(url, reply);
  return { id: String(parsed.data.id), login: parsed.data.login };
}

export async function lookAt(api: Api, accessToken: string, repository: RepositoryName): Promise<Sight> {
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

/** Returns the sign-on URL only when it has the provider's own origin: a person opens it. */
function signOnUrl({ headers }: Reply, providerUrl: string): string | null {
  const [, text = ''] = /\burl=(\S+)/.exec(headers.get('x-github-sso') ?? '') ?? [];
  const url = URL.parse(text);
  return url && url.origin === new URL(providerUrl).origin ? url.href : null;
}
