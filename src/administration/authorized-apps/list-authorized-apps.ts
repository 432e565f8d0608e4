/** ListAuthorizedApps: the applications that may act for a user over MCP. */
import { z } from 'zod';
import { pageOf, pageOutput, pageParameters } from '../../catalog/parameters/pagination.ts';
import { defineAction } from '../action.ts';
import { user } from '../users/parameters.ts';
import { appOutput, toAppView } from './app-view.ts';

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
