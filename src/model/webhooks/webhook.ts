/** Webhooks and the events that they deliver. Times are milliseconds since the epoch. */

export const webhookEvents = [
  'sandbox.created',
  'sandbox.started',
  'sandbox.stopped',
  'sandbox.archived',
  'sandbox.given',
  'sandbox.deleted',
  'sandbox.error',
  'snapshot.ready',
  'snapshot.failed',
  'snapshot.given',
  'snapshot.deleted',
  'quota.refused',
  'way_in.made',
] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

/** Sent on request alone, to one webhook, whatever it hears. */
export const TEST_EVENT = 'webhook.test';
export type SentEvent = WebhookEvent | typeof TEST_EVENT;

export interface Webhook {
  id: string;
  /** User or team whose sandboxes it hears of; null: everybody's. */
  ownerId: string | null;
  /** Its maker: a webhook for everybody hears events while this user is an admin. */
  createdBy: string;
  url: string;
  events: readonly WebhookEvent[];
  createdAt: number;
  updatedAt: number;
  /** null: enabled. */
  disabledAt: number | null;
  disabledReason: string | null;
  /** End of the time in which the replaced secret signs too. */
  previousUntil: number | null;
  /** Time of the first failure since the last success; null: none. */
  failingSince: number | null;
  lastAttemptAt: number | null;
  /** HTTP status of the last answer; null: none came. */
  lastStatus: number | null;
  lastError: string | null;
  /** Events that were dropped because too many waited, or because the webhook was disabled. */
  dropped: number;
  /** Events that wait. */
  queued: number;
}

export const deliveryStates = ['pending', 'delivered', 'failed', 'dropped'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** One event on its way to one webhook. */
export interface Delivery {
  /** The same with every attempt. */
  id: string;
  webhookId: string;
  type: SentEvent;
  /** The event's fields. */
  data: Record<string, unknown>;
  createdAt: number;
  state: DeliveryState;
  attempts: number;
  firstAttemptAt: number | null;
  lastAttemptAt: number | null;
  status: number | null;
  error: string | null;
  /** null: no attempt follows; 0: at once. */
  nextAttemptAt: number | null;
}

/** Returns the whole body of a delivery, the same with every attempt. */
export function bodyOf({ type, createdAt, data }: Pick<Delivery, 'type' | 'createdAt' | 'data'>): string {
  return JSON.stringify({ type, timestamp: new Date(createdAt).toISOString(), data });
}
