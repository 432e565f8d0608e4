/** ListWebhookDeliveries and RedeliverWebhook: the latest events of a webhook, and one of them once more. */
import { z } from 'zod';
import { textWithoutNul } from '../../catalog/parameters/text.ts';
import { limits } from '../../model/limits.ts';
import { defineAction } from '../action.ts';
import { webhookId } from './parameters.ts';
import { deliveryOutput, deliveryRow, toDeliveryView } from './webhook-view.ts';

export const listWebhookDeliveries = defineAction({
  name: 'ListWebhookDeliveries',
  title: 'List deliveries of a webhook',
  description:
    'Lists the latest 100 events of a webhook, newest first, with their attempts, the last status or error, and ' +
    'the time of the next attempt.',
  role: 'member',
  scope: 'sandboxes:read',
  command: 'webhooks deliveries',
  argument: 'webhook_id',
  input: z.strictObject({ webhook_id: webhookId }),
  output: z.looseObject({ deliveries: z.array(deliveryOutput) }),
  async handler({ webhook_id }, { services, caller }) {
    return { deliveries: (await services.webhooks.deliveries(caller, webhook_id)).map(toDeliveryView) };
  },
  rows: ({ deliveries }) => deliveries.map(deliveryRow),
});

export const redeliverWebhook = defineAction({
  name: 'RedeliverWebhook',
  title: 'Deliver an event again',
  description:
    'Sends an event that was delivered, failed or dropped once more, under the same ID, with new attempts.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'webhooks redeliver',
  argument: 'webhook_id',
  input: z.strictObject({
    webhook_id: webhookId,
    delivery_id: textWithoutNul()
      .min(1)
      .max(limits.keyNameChars)
      .describe('ID of the delivery, as ListWebhookDeliveries shows it.'),
  }),
  output: deliveryOutput,
  async handler({ webhook_id, delivery_id }, { services, caller }) {
    return toDeliveryView(await services.webhooks.redeliver(caller, webhook_id, delivery_id));
  },
  rows: (delivery) => [deliveryRow(delivery)],
});
