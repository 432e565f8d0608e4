/** One attempt to deliver an event: signs it, sends it, and stores how it ended. */
import { limits } from '../../model/limits.ts';
import { pauseAfter, retryAfterMs } from '../../model/webhooks/retries.ts';
import { signedHeaders } from '../../model/webhooks/signature.ts';
import { bodyOf, type Delivery, type Webhook } from '../../model/webhooks/webhook.ts';
import type { Answer, Clock, Settled, WebhookSender, WebhookStore } from '../ports/index.ts';

export interface AttemptDependencies {
  store: WebhookStore;
  sender: WebhookSender;
  clock: Clock;
}

const GONE = 410;
/** Owner of the places that webhooks for everybody take. */
const EVERYBODY = 'everybody';

/**
 * Sends an event that was taken. A test is sent once; anything else is tried again for as long as the bounds allow, and a
 * webhook that fails for all of that time is disabled.
 */
export async function attempt(
  { store, sender, clock }: AttemptDependencies,
  webhook: Webhook,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<Settled | null> {
  const secrets = await store.secrets(webhook.id, clock.now());
  if (secrets.length === 0) return null;
  const body = bodyOf(delivery);
  const signed = { id: delivery.id, timestamp: Math.floor(clock.now() / 1_000), body };
  const answer = await sender.send({
    ...{ url: webhook.url, body, signal, owner: placeOwner(webhook) },
    headers: signedHeaders(signed, secrets),
  });
  // The stop of this process is nobody's failure: the event is due again when its time is over.
  if (signal.aborted) return null;
  const now = clock.now();
  const settled = settledBy(answer, delivery, now);
  await store.settle(delivery, settled, now);
  const reason = delivery.type === 'webhook.test' ? null : endOf(answer, webhook, now);
  if (settled.state !== 'delivered' && reason !== null) {
    await store.update(webhook.id, { disabledReason: reason }, now);
  }
  return settled;
}

/** Returns the owner whose share an attempt takes. */
export function placeOwner({ ownerId }: Pick<Webhook, 'ownerId'>): string {
  return ownerId ?? EVERYBODY;
}

function settledBy(answer: Answer, delivery: Delivery, now: number): Settled {
  const status = 'status' in answer ? answer.status : null;
  if (status !== null && status >= 200 && status < 300) {
    return { state: 'delivered', status, error: null, nextAttemptAt: null };
  }
  const error = 'error' in answer ? answer.error : `status ${answer.status}`;
  const over = now - (delivery.firstAttemptAt ?? now) >= limits.webhooks.giveUpMs;
  if (over || status === GONE || delivery.type === 'webhook.test') {
    return { state: 'failed', status, error, nextAttemptAt: null };
  }
  const asked = retryAfterMs('retryAfter' in answer ? answer.retryAfter : null, now);
  const nextAttemptAt = now + pauseAfter(delivery.attempts, Math.random(), asked);
  return { state: 'pending', status, error, nextAttemptAt };
}

/** Returns the reason for which the webhook is disabled; null: it goes on. */
function endOf(answer: Answer, webhook: Webhook, now: number): string | null {
  if ('status' in answer && answer.status === GONE) return 'The receiver answered 410: it is gone for good.';
  const { failingSince } = webhook;
  if (failingSince === null || now - failingSince < limits.webhooks.giveUpMs) return null;
  return 'No event was delivered for three days.';
}
