/** Views of webhooks and their deliveries in actions: everything but the secret. */
import { z } from 'zod';
import { type Delivery, deliveryStates, type Webhook } from '../../model/webhooks/webhook.ts';

export const webhookOutput = z.looseObject({
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

export type WebhookView = z.output<typeof webhookOutput>;

export const deliveryOutput = z.looseObject({
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

export type DeliveryView = z.output<typeof deliveryOutput>;

export function toWebhookView(webhook: Webhook): WebhookView {
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

export function toDeliveryView(delivery: Delivery): DeliveryView {
  const { id, type, state, attempts, status, error, data } = delivery;
  return {
    ...{ delivery_id: id, type, state, created_at: new Date(delivery.createdAt).toISOString(), attempts },
    last_attempt_at: timeOf(delivery.lastAttemptAt),
    ...{ status, error, next_attempt_at: timeOf(delivery.nextAttemptAt || null), data },
  };
}

export function webhookRow(view: WebhookView): Record<string, unknown> {
  const { webhook_id, url, events, enabled, last_status, last_error, queued, dropped } = view;
  return {
    ...{ webhook: webhook_id, url, events: events.join(','), state: enabled ? 'enabled' : 'disabled' },
    ...{ reason: view.disabled_reason, status: last_status, error: last_error, queued, dropped },
  };
}

export function deliveryRow(view: DeliveryView): Record<string, unknown> {
  const { delivery_id, type, state, created_at, attempts, status, error, next_attempt_at } = view;
  return {
    ...{ delivery: delivery_id, type, state, created: created_at, attempts, status, error },
    next: next_attempt_at,
  };
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
