/** Actions on webhooks. */
import { z } from 'zod';
import { textWithoutNul } from '../catalog/parameters/scalars.ts';
import { limits } from '../model/limits.ts';
import { type Delivery, deliveryStates, type Webhook, webhookEvents } from '../model/webhooks/webhook.ts';
import { defineAction } from './action.ts';

export const webhookId = textWithoutNul()
  .min(1)
  .max(limits.keyNameChars)
  .describe('ID of the webhook, as ListWebhooks shows it.');

export const url = textWithoutNul()
  .min(1)
  .max(limits.webhooks.urlChars)
  .describe('https URL of the receiver, at a public address; port 443 or 8443.');

export const events = z
  .array(z.enum(webhookEvents))
  .min(1)
  .max(webhookEvents.length)
  .describe('Types of the events that it hears.');

export const everybody = z
  .boolean()
  .optional()
  .describe("true: events of everybody's sandboxes, for admins.");

/** Views of webhooks and their deliveries in actions: everything but the secret. */
const webhookOutput = z.looseObject({
  webhook_id: z.string(),
  /** null: it hears of everybody's sandboxes. */
  owner_id: z.string().nullable(),
  url: z.string(),
  events: z.array(z.string()),
  enabled: z.boolean(),
  disabled_reason: z.string().nullable(),
  created_at: z.string(),
  last_attempt_at: z.string().nullable(),
  /** HTTP status of the last answer; null: none came. */
  last_status: z.int().nullable(),
  last_error: z.string().nullable(),
  failing_since: z.string().nullable(),
  /** Events that wait. */
  queued: z.int(),
  /** Events that were dropped. */
  dropped: z.int(),
  /** End of the time in which the replaced secret signs too. */
  old_secret_until: z.string().nullable(),
});

type WebhookView = z.output<typeof webhookOutput>;

const deliveryOutput = z.looseObject({
  delivery_id: z.string(),
  type: z.string(),
  state: z.enum(deliveryStates),
  created_at: z.string(),
  attempts: z.int(),
  last_attempt_at: z.string().nullable(),
  status: z.int().nullable(),
  error: z.string().nullable(),
  /** null: none follows, or it follows at once. */
  next_attempt_at: z.string().nullable(),
  data: z.record(z.string(), z.unknown()),
});

type DeliveryView = z.output<typeof deliveryOutput>;

function toWebhookView(webhook: Webhook): WebhookView {
  return {
    ...{ webhook_id: webhook.id, owner_id: webhook.ownerId, url: webhook.url, events: [...webhook.events] },
    ...{ enabled: webhook.disabledAt === null, disabled_reason: webhook.disabledReason },
    created_at: new Date(webhook.createdAt).toISOString(),
    last_attempt_at: timeOf(webhook.lastAttemptAt),
    ...{ last_status: webhook.lastStatus, last_error: webhook.lastError },
    failing_since: timeOf(webhook.failingSince),
    ...{ queued: webhook.queued, dropped: webhook.dropped },
    old_secret_until: timeOf(webhook.previousUntil),
  };
}

function toDeliveryView(delivery: Delivery): DeliveryView {
  const { id, type, state, attempts, status, error, data } = delivery;
  return {
    ...{ delivery_id: id, type, state, created_at: new Date(delivery.createdAt).toISOString(), attempts },
    last_attempt_at: timeOf(delivery.lastAttemptAt),
    ...{ status, error, next_attempt_at: timeOf(delivery.nextAttemptAt || null), data },
  };
}

function webhookRow(view: WebhookView): Record<string, unknown> {
  const { webhook_id, url, events, enabled, last_status, last_error, queued, dropped } = view;
  return {
    ...{ webhook: webhook_id, url, events: events.join(','), state: enabled ? 'enabled' : 'disabled' },
    ...{ reason: view.disabled_reason, status: last_status, error: last_error, queued, dropped },
  };
}

function deliveryRow(view: DeliveryView): Record<string, unknown> {
  const { delivery_id, type, state, created_at, attempts, status, error, next_attempt_at } = view;
  return {
    ...{ delivery: delivery_id, type, state, created: created_at, attempts, status, error },
    next: next_attempt_at,
  };
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

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
