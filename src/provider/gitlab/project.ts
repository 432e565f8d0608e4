/** Views with a user's token: the account, and one project with the user's permissions. A project lies in nested groups. */
import { z } from 'zod';
import type { RepositoryVisibility } from '../../control/ports/index.ts';
import type { ProviderAccount, RepositoryName } from '../../model/provider.ts';
import { ask, notAsDocumented } from '../http.ts';

/** Access level of the role Developer, the least one that pushes. */
const DEVELOPER = 30;
const MAX_GROUPS = 20;

const user = z.object({ id: z.int().min(1), username: z.string().regex(/^[A-Za-z0-9_.-]{1,255}$/) });
const access = z.object({ access_level: z.int() }).nullish();
const projectReply = z.object({
  visibility: z.enum(['private', 'internal', 'public']),
  permissions: z.object({ project_access: access, group_access: access }).optional(),
});
const lacksScope = z.object({ error: z.literal('insufficient_scope') });

/** Returns null when the token is invalid. */
export async function accountOf(apiUrl: string, accessToken: string): Promise<ProviderAccount | null> {
  const url = `${apiUrl}/user`;
  const reply = await ask({ method: 'GET', url, authorization: `Bearer ${accessToken}` });
  if (reply.status === 401) return null;
  const parsed = user.safeParse(reply.body);
  if (reply.status !== 200 || !parsed.success) throw notAsDocumented(url, reply);
  return { id: String(parsed.data.id), login: parsed.data.username };
}

export async function repositoryVisibility(
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
