/**
 * Delivers queued events. Each webhook belongs to one replica at a time, and each event that is taken belongs to its taker
 * for longer than an attempt lasts. Every owner has a share of the attempts in flight, so a slow receiver holds up the
 * events of its own owner alone.
 */
import type { Shares } from '../../fairness/shares.ts';
import { limits } from '../../model/limits.ts';
import { pauseAfter, retryAfterMs, signedHeaders } from '../../model/webhooks/attempts.ts';
import { bodyOf, type Delivery, type Webhook } from '../../model/webhooks/webhook.ts';
import type {
  Answer,
  Clock,
  DueWebhook,
  Log,
  Replicas,
  Settled,
  WebhookSender,
  WebhookStore,
} from '../ports/index.ts';

export interface DelivererDependencies extends AttemptDependencies {
  replicas: Pick<Replicas, 'isMine'>;
  /** Attempts in flight, tests included. */
  places: Shares;
  log: Log;
}

const { claimMs, turnMs } = limits.webhooks;

export class Deliverer {
  readonly #deps: DelivererDependencies;
  readonly #closing = new AbortController();
  readonly #inFlight = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | null = null;
  #turn: Promise<void> | null = null;
  #again = false;
  /** Moves on with each turn, so that no webhook always comes first. */
  #first = 0;

  constructor(dependencies: DelivererDependencies) {
    this.#deps = dependencies;
  }

  begin(): void {
    this.#timer = setInterval(() => void this.turn(), turnMs);
    this.#timer.unref();
  }

  /** Ends attempts in flight, whose events are due again later. */
  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    this.#closing.abort();
    await this.#turn;
    await Promise.all(this.#inFlight);
  }

  /** Takes what is due and begins to send it. Resolves when all that has room is under way; turns do not overlap. */
  turn(): Promise<void> {
    if (this.#turn) {
      this.#again = true;
      return this.#turn;
    }
    this.#turn = this.#turns();
    return this.#turn;
  }

  /** Resolves when no attempt is in flight. */
  async idle(): Promise<void> {
    while (this.#inFlight.size > 0 || this.#turn) {
      await this.#turn;
      await Promise.all(this.#inFlight);
    }
  }

  async #turns(): Promise<void> {
    try {
      do {
        this.#again = false;
        await this.#takeAll();
      } while (this.#again && !this.#closing.signal.aborted);
    } catch (error) {
      this.#deps.log.error('events of webhooks could not be taken', { error });
    }
    // At once: whoever asks for a turn after the last look must not find this one still running.
    this.#turn = null;
  }

  async #takeAll(): Promise<void> {
    const { store, replicas, clock } = this.#deps;
    const due = (await store.due(clock.now())).filter(({ id }) => replicas.isMine(id));
    this.#first += 1;
    for (const at of due.keys()) {
      const webhook = due[(at + this.#first) % due.length];
      if (webhook && !this.#closing.signal.aborted) await this.#takeOf(webhook);
    }
  }

  async #takeOf(due: DueWebhook): Promise<void> {
    const { store, clock } = this.#deps;
    await store.trim(due.id);
    const owner = placeOwner(due);
    const free = this.#free(owner);
    if (free === 0) return;
    const now = clock.now();
    const taken = await store.take(due.id, free, now, now + claimMs);
    const webhook = taken.length > 0 ? await store.get(due.id) : null;
    if (!webhook) return;
    for (const delivery of taken) this.#send(webhook, delivery, owner);
  }

  /** Tests take places too, between the look and the sending: such an event waits until it is due again. */
  #free(owner: string): number {
    const { perOwner, total } = limits.webhooks.atOnce;
    const { places } = this.#deps;
    return Math.max(0, Math.min(perOwner - places.of(owner), total - places.total));
  }

  #send(webhook: Webhook, delivery: Delivery, owner: string): void {
    const { places, log } = this.#deps;
    if (!places.hasShare(owner, 1) || !places.hasRoom(1)) return;
    const leave = places.take(owner);
    const sent = attempt(this.#deps, webhook, delivery, this.#closing.signal)
      .catch((error: unknown) => log.error('an event was not delivered', { webhook: webhook.id, error }))
      .then(() => {
        leave();
        this.#inFlight.delete(sent);
        // The place is free for the next one.
        if (!this.#closing.signal.aborted) void this.turn();
      });
    this.#inFlight.add(sent);
  }
}

/** One attempt to deliver an event: signs it, sends it, and stores how it ended. */
interface AttemptDependencies {
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
