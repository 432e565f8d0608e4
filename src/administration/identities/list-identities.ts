/** ListIdentities: the people of the identity provider who sign in as users. */
import { z } from 'zod';
import { pageOf, pageOutput, pageParameters } from '../../catalog/parameters/pagination.ts';
import { defineAction } from '../action.ts';
import { user } from '../users/parameters.ts';
import { identityOutput, toIdentityView } from './identity-view.ts';

export const listIdentities = defineAction({
  name: 'ListIdentities',
  title: 'List identities',
  description:
    'Lists the people of the identity provider who have signed in, or were linked, with their users.',
  role: 'admin',
  command: 'identities list',
  argument: 'user',
  input: z.strictObject({
    user: user.optional().describe('Only those of this user: user ID or email.'),
    ...pageParameters,
  }),
  output: z.looseObject({ identities: z.array(identityOutput), ...pageOutput }),
  async handler({ user, page, page_size: pageSize }, { services }) {
    const { identities, totalCount } = await services.identities.list(user, { page, pageSize });
    return {
      identities: identities.map(toIdentityView),
      ...pageOf(totalCount, { page, page_size: pageSize }),
    };
  },
  rows: ({ identities }) =>
    identities.map(({ email, user_id, subject, issuer, linked_at }) => ({
      ...{ email, user: user_id, subject, issuer, linked: linked_at },
    })),
});
