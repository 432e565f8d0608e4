/** UpdateWebhook: changes the URL or the events of a webhook; disables and enables it. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { events, url, webhookId } from './parameters.ts';
import { toWebhookView, webhookOutput, webhookRow } from './webhook-view.ts';

export const updateWebhook = defineAction({
  name: 'UpdateWebhook',
  title: 'Change a webhook',
  description:
    'Changes what is given and leaves the rest. A disabled webhook hears nothing, and events that wait for ' +
    'it are dropped; enabling it forgets its failures.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'webhooks update',
  argument: 'webhook_id',
  input: z.strictObject({
    webhook_id: webhookId,
    url: url.optional(),
    events: events.optional(),
    disabled: z.boolean().optional().describe('true disables it, false enables it again.'),
  }),
  output: webhookOutput,
  async handler({ webhook_id, ...change }, { services, caller }) {
    return toWebhookView(await services.webhooks.update(caller, webhook_id, change));
  },
  rows: (webhook) => [webhookRow(webhook)],
});
