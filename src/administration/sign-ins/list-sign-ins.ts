/** ListSignIns: the browsers that are signed in. */
import { z } from 'zod';
import { pageOf, pageOutput, pageParameters } from '../../catalog/parameters/pagination.ts';
import { defineAction } from '../action.ts';
import { user } from '../users/parameters.ts';
import { signInOutput, toSignInView } from './sign-in-view.ts';

export const listSignIns = defineAction({
  name: 'ListSignIns',
  title: 'List sign-ins',
  description: 'Lists the browsers that are signed in: your own or, for an admin, everybody’s.',
  role: 'member',
  command: 'sign-ins list',
  argument: 'user',
  input: z.strictObject({
    user: user.optional().describe('Only those of this user: user ID or email.'),
    ...pageParameters,
  }),
  output: z.looseObject({ sign_ins: z.array(signInOutput), ...pageOutput }),
  async handler({ user, page, page_size: pageSize }, { services, caller }) {
    const all = user === undefined && caller.role === 'admin';
    const owner = all ? null : (await services.keys.ownerOf(caller, user ?? caller.id)).id;
    const { signIns, totalCount } = await services.signIns.list(owner, { page, pageSize });
    const views = signIns.map((signIn) => toSignInView(signIn, caller));
    return { sign_ins: views, ...pageOf(totalCount, { page, page_size: pageSize }) };
  },
  rows: ({ sign_ins }) =>
    sign_ins.map(({ sign_in_id, user_id, made_by, current, created_at, last_used_at, expires_at }) => ({
      'sign-in': sign_in_id,
      user: user_id,
      by: made_by,
      current,
      created: created_at,
      used: last_used_at,
      expires: expires_at,
    })),
});
