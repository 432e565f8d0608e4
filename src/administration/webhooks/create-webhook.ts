/** CreateWebhook: registers a receiver, and returns the secret that signs its events once. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { events, everybody, url } from './parameters.ts';
import { toWebhookView, webhookOutput } from './webhook-view.ts';

export const createWebhook = defineAction({
  name: 'CreateWebhook',
  title: 'Create a webhook',
  description:
    'Sends events of your sandboxes and snapshots to a URL, signed by the Standard Webhooks convention. ' +
    'Returns the secret only once. Makes no request: TestWebhook does.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'webhooks create',
  argument: 'url',
  input: z.strictObject({
    url,
    events: events.optional().describe('Types of the events that it hears (default: all).'),
    everybody,
  }),
  output: webhookOutput.extend({ secret: z.string() }),
  async handler({ url, events, everybody = false }, { services, caller }) {
    const { webhook, secret } = await services.webhooks.create(caller, { url, events, everybody });
    return { ...toWebhookView(webhook), secret };
  },
});
