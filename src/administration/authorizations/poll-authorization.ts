/** PollAuthorization: returns the progress of an authorization. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { account, providerOf, seconds } from './parts.ts';

export const pollAuthorization = defineAction({
  name: 'PollAuthorization',
  title: 'Poll an authorization',
  description:
    'Returns the status of one of your authorizations. Wait interval_seconds before polling again.',
  role: 'member',
  command: 'auth poll',
  argument: 'authorization_id',
  input: z.strictObject({
    authorization_id: z
      .string()
      .regex(/^auth_[0-9a-z]{16}$/, 'must be what StartAuthorization gave')
      .describe('From StartAuthorization.'),
  }),
  output: z.looseObject({
    status: z.enum(['pending', 'authorized', 'denied', 'expired']),
    account: account.nullable(),
    reason: z.string().nullable(),
    interval_seconds: z.int().nullable(),
  }),
  async handler({ authorization_id: id }, { services, caller }) {
    const progress = await providerOf(services).poll(caller, id);
    return {
      status: progress.status,
      account: progress.status === 'authorized' ? { ...progress.account } : null,
      reason: progress.status === 'denied' ? progress.reason : null,
      interval_seconds: progress.status === 'pending' ? seconds(progress.intervalMs) : null,
    };
  },
});
