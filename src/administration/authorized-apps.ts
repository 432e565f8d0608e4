/** Actions on applications that act for a person. */
import { z } from 'zod';
import { pageOf, pageOutput, pageParameters } from '../catalog/parameters/pagination.ts';
import { textWithoutNul } from '../catalog/parameters/scalars.ts';
import type { Grant } from '../model/access/oauth.ts';
import { defineAction } from './action.ts';
import { user } from './owners.ts';

/** View of an authorized application in actions. */
const appOutput = z.looseObject({
  app_id: z.string(),
  user_id: z.string(),
  client_id: z.string(),
  /** In the application's own words. */
  client_name: z.string().nullable(),
  /** Host that it is reached at. */
  redirect_host: z.string(),
  /** URL of MCP that it was authorized for. */
  resource: z.string(),
  scopes: z.array(z.string()),
  created_at: z.string(),
  /** Exact to the minute. */
  last_used_at: z.string(),
  /** End of it, unless it is used. */
  expires_at: z.string(),
});

function toAppView(grant: Grant): z.output<typeof appOutput> {
  const { id, userId, clientId, clientName, redirectHost, resource, scopes } = grant;
  return {
    ...{ app_id: id, user_id: userId, client_id: clientId, client_name: clientName },
    ...{ redirect_host: redirectHost, resource, scopes: [...scopes] },
    created_at: new Date(grant.createdAt).toISOString(),
    last_used_at: new Date(grant.lastUsedAt).toISOString(),
    expires_at: new Date(grant.expiresAt).toISOString(),
  };
}

export const listAuthorizedApps = defineAction({
  name: 'ListAuthorizedApps',
  title: 'List authorized applications',
  description:
    'Lists the applications that may act over MCP by OAuth: for you or, for an admin, for anybody. Each authorization ' +
    'is an entry of its own.',
  role: 'member',
  command: 'apps list',
  argument: 'user',
  input: z.strictObject({
    user: user.optional().describe('Only those of this user: user ID or email.'),
    ...pageParameters,
  }),
  output: z.looseObject({ apps: z.array(appOutput), ...pageOutput }),
  async handler({ user, page, page_size: pageSize }, { services, caller }) {
    const all = user === undefined && caller.role === 'admin';
    const owner = all ? null : (await services.keys.ownerOf(caller, user ?? caller.id)).id;
    const { grants, totalCount } = await services.apps.list(owner, { page, pageSize });
    return { apps: grants.map(toAppView), ...pageOf(totalCount, { page, page_size: pageSize }) };
  },
  rows: ({ apps }) =>
    apps.map(({ app_id, client_name, redirect_host, user_id, scopes, last_used_at, expires_at }) => ({
      app: app_id,
      name: client_name,
      host: redirect_host,
      user: user_id,
      scopes: scopes.join(','),
      used: last_used_at,
      expires: expires_at,
    })),
});

export const revokeAuthorizedApp = defineAction({
  name: 'RevokeAuthorizedApp',
  title: 'Revoke an authorized application',
  description:
    'Takes the authorization of an application away: one of yours or, for an admin, any. Ends its tokens, and what it has ' +
    'open, at once.',
  role: 'member',
  command: 'apps revoke',
  argument: 'app',
  input: z.strictObject({
    app: textWithoutNul()
      .min(1)
      .max(100)
      .describe('ID of the authorization, as ListAuthorizedApps shows it.'),
  }),
  output: appOutput.extend({ revoked: z.literal(true) }),
  async handler({ app: id }, { services, caller }) {
    return { ...toAppView(await services.apps.revoke(caller, id)), revoked: true as const };
  },
});
