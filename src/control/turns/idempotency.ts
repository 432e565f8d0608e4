/** Runs a call once for each idempotency key: a second call gets the first one's answer. */
import { createHash } from 'node:crypto';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { HeldKeys } from '../base/held-keys.ts';
import { underLease } from '../base/tenure.ts';
import type { Clock, IdempotencyStore, Replicas } from '../ports/index.ts';

export class Idempotency {
  readonly #store: IdempotencyStore;
  readonly #clock: Clock;
  readonly #replicas: Replicas;
  readonly #held: HeldKeys;
  readonly #inFlight = new Map<string, { digest: string; result: Promise<unknown> }>();

  constructor(store: IdempotencyStore, clock: Clock, replicas: Replicas) {
    this.#store = store;
    this.#clock = clock;
    this.#replicas = replicas;
    this.#held = new HeldKeys(store, replicas);
  }

  /**
   * Keeps no failures, so a retry runs again. Rejects the same key with another request, with `invalid_argument`.
   * @param request Plain JSON; the request under the key.
   * @param work Receives the start of the retention of answers, so that it can find finished work without an answer.
   */
  async once<T>(
    ownerId: string,
    key: string,
    request: unknown,
    work: (keptSince: number) => Promise<T>,
  ): Promise<T> {
    const digest = createHash('sha256').update(JSON.stringify(request)).digest('hex');
    const slot = `${ownerId} ${key}`;
    const running = this.#inFlight.get(slot);
    if (running) return same(digest, running.digest, running.result as Promise<T>);
    const begin = () => this.#lookUpOrWork(ownerId, key, digest, work);
    const result = underLease(this.#replicas, () => this.#holding(ownerId, key, begin));
    this.#inFlight.set(slot, { digest, result });
    try {
      return await result;
    } finally {
      this.#inFlight.delete(slot);
    }
  }

  /** Works once no other live replica works under the key. */
  async #holding<T>(ownerId: string, key: string, work: () => Promise<T>): Promise<T> {
    const release = await this.#held.wait(ownerId, key);
    try {
      return await work();
    } finally {
      release();
    }
  }

  async #lookUpOrWork<T>(
    ownerId: string,
    key: string,
    digest: string,
    work: (keptSince: number) => Promise<T>,
  ): Promise<T> {
    const known = await this.#store.get(ownerId, key);
    if (known) return same(digest, known.requestDigest, known.result as T);
    const result = await work(this.#clock.now() - limits.idempotencyKeptMs);
    await this.#store.put(ownerId, key, digest, result, this.#clock.now());
    return result;
  }
}

function same<T>(digest: string, known: string, result: T): T {
  if (digest === known) return result;
  throw new SandhavenError('invalid_argument', 'This Idempotency-Key was used for another request.', {
    parameter: 'Idempotency-Key',
    hint: 'Use a new key for a new request.',
  });
}
