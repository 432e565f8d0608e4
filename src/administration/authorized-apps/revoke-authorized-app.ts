/** RevokeAuthorizedApp: takes an application's authorization away. */
import { z } from 'zod';
import { textWithoutNul } from '../../catalog/parameters/text.ts';
import { defineAction } from '../action.ts';
import { appOutput, toAppView } from './app-view.ts';

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
