/** TestWebhook: sends one `webhook.test` event now, and returns how it ended. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { webhookId } from './parameters.ts';
import { deliveryOutput, deliveryRow, toDeliveryView } from './webhook-view.ts';

export const testWebhook = defineAction({
  name: 'TestWebhook',
  title: 'Test a webhook',
  description:
    'Sends a signed webhook.test event at once, also to a disabled webhook, and returns the status of the ' +
    'answer, or why there was none. Waits 10 seconds at most, and does not try again.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'webhooks test',
  argument: 'webhook_id',
  input: z.strictObject({ webhook_id: webhookId }),
  output: deliveryOutput,
  async handler({ webhook_id }, { services, caller }) {
    return toDeliveryView(await services.webhooks.test(caller, webhook_id));
  },
  rows: (delivery) => [deliveryRow(delivery)],
});
