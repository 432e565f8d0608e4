/** DeleteWebhook: deletes a webhook with the events that wait for it. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { webhookId } from './parameters.ts';

export const deleteWebhook = defineAction({
  name: 'DeleteWebhook',
  title: 'Delete a webhook',
  description: 'Deletes a webhook for good, with the events that wait for it.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'webhooks rm',
  argument: 'webhook_id',
  input: z.strictObject({ webhook_id: webhookId }),
  output: z.looseObject({ webhook_id: z.string(), deleted: z.literal(true) }),
  async handler({ webhook_id }, { services, caller }) {
    const { id } = await services.webhooks.remove(caller, webhook_id);
    return { webhook_id: id, deleted: true as const };
  },
});
