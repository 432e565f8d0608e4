/**
 * Delivers queued events. Each webhook belongs to one replica at a time, and each event that is taken belongs to its taker
 * for longer than an attempt lasts. Every owner has a share of the attempts in flight, so a slow receiver holds up the
 * events of its own owner alone.
 */
import type { Shares } from '../../fairness/shares.ts';
import { limits } from '../../model/limits.ts';
import type { Delivery, Webhook } from '../../model/webhooks/webhook.ts';
import type { DueWebhook, Log, Replicas } from '../ports/index.ts';
import { type AttemptDependencies, attempt, placeOwner } from './attempt.ts';

export interface DelivererDependencies extends AttemptDependencies {
  replicas: Pick<Replicas, 'isMine'>;
  /** Attempts in flight, tests included. */
  places: Shares;
  log: Log;
}

const { claimMs, turnMs } = limits.webhooks;

export class Deliverer {
  readonly #d: DelivererDependencies;
  readonly #closing = new AbortController();
  readonly #inFlight = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | null = null;
  #turn: Promise<void> | null = null;
  #again = false;
  /** Moves on with each turn, so that no webhook always comes first. */
  #first = 0;

  constructor(dependencies: DelivererDependencies) {
    this.#d = dependencies;
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
      this.#d.log.error('events of webhooks could not be taken', { error });
    }
    // At once: whoever asks for a turn after the last look must not find this one still running.
    this.#turn = null;
  }

  async #takeAll(): Promise<void> {
    const { store, replicas, clock } = this.#d;
    const due = (await store.due(clock.now())).filter(({ id }) => replicas.isMine(id));
    this.#first += 1;
    for (const at of due.keys()) {
      const webhook = due[(at + this.#first) % due.length];
      if (webhook && !this.#closing.signal.aborted) await this.#takeOf(webhook);
    }
  }

  async #takeOf(due: DueWebhook): Promise<void> {
    const { store, clock } = this.#d;
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
    const { places } = this.#d;
    return Math.max(0, Math.min(perOwner - places.of(owner), total - places.total));
  }

  #send(webhook: Webhook, delivery: Delivery, owner: string): void {
    const { places, log } = this.#d;
    if (!places.hasShare(owner, 1) || !places.hasRoom(1)) return;
    const leave = places.take(owner);
    const sent = attempt(this.#d, webhook, delivery, this.#closing.signal)
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
