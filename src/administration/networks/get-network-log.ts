/** GetNetworkLog: what one of the caller's sandboxes reached, and what it was refused. */
import { z } from 'zod';
import { sandbox } from '../../catalog/parameters/sandbox.ts';
import { limits } from '../../model/limits.ts';
import { defineAction } from '../action.ts';
import { networkLogOutput, toLogRow, toNetworkLog } from './network-log-view.ts';

const { eventsShown } = limits.network;

export const getNetworkLog = defineAction({
  name: 'GetNetworkLog',
  title: 'Get the network log of a sandbox',
  description:
    'Decisions about the network of one of your sandboxes while it has rules, oldest first: the newest, or those after a ' +
    'sequence. The service keeps the latest in memory alone, so a restart of it forgets them. failed_precondition: the ' +
    'engine has no network policies, as on Kubernetes.',
  role: 'member',
  scope: 'sandboxes:read',
  command: 'network log',
  argument: 'sandbox',
  input: z.strictObject({
    sandbox,
    after: z.int().min(0).optional().describe('Only events after this sequence; the newest by default.'),
    limit: z
      .int()
      .min(1)
      .max(eventsShown.max)
      .default(eventsShown.default)
      .describe('Most events to return.'),
    refused: z.boolean().default(false).describe('Only what was refused.'),
  }),
  output: networkLogOutput.extend({
    next_after: z.int().describe('For the next call: events after these.'),
    has_more: z.boolean().describe('Further events are there, after next_after.'),
  }),
  async handler({ sandbox: reference, after, limit, refused }, { services, caller }) {
    const page = await services.networks.log(caller, reference, { after, limit, refused });
    return { ...toNetworkLog(page), next_after: page.next, has_more: page.hasMore };
  },
  rows: ({ events }) => events.map(toLogRow),
});
