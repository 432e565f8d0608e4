/** RotateWebhookSecret: replaces the secret of a webhook, and returns the new one once. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { webhookId } from './parameters.ts';
import { toWebhookView, webhookOutput } from './webhook-view.ts';

export const rotateWebhookSecret = defineAction({
  name: 'RotateWebhookSecret',
  title: 'Replace the secret of a webhook',
  description:
    'Makes a new secret and returns it only once. For 24 hours both sign each event, so a receiver may change over ' +
    'at any time within them; a second replacement ends the oldest at once.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'webhooks rotate',
  argument: 'webhook_id',
  input: z.strictObject({ webhook_id: webhookId }),
  output: webhookOutput.extend({ secret: z.string() }),
  async handler({ webhook_id }, { services, caller }) {
    const { webhook, secret } = await services.webhooks.rotate(caller, webhook_id);
    return { ...toWebhookView(webhook), secret };
  },
});
