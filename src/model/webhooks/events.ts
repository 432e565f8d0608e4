/** Types of the events that webhooks hear. */
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
