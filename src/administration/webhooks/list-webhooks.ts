/** ListWebhooks: lists webhooks with their last answer, never their secrets. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { everybody } from './parameters.ts';
import { toWebhookView, webhookOutput, webhookRow } from './webhook-view.ts';

export const listWebhooks = defineAction({
  name: 'ListWebhooks',
  title: 'List webhooks',
  description:
    'Lists your webhooks, oldest first: the last status and error, how many events wait and were dropped, ' +
    'and why one is disabled. Who may not change them sees the origins of their URLs alone.',
  role: 'member',
  scope: 'sandboxes:read',
  command: 'webhooks list',
  input: z.strictObject({ everybody }),
  output: z.looseObject({ webhooks: z.array(webhookOutput) }),
  async handler({ everybody = false }, { services, caller }) {
    return { webhooks: (await services.webhooks.list(caller, everybody)).map(toWebhookView) };
  },
  rows: ({ webhooks }) => webhooks.map(webhookRow),
});
