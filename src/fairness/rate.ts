/** Rate limit of a key or a sandbox, as a token bucket. */

export interface Rate {
  /** Tokens refilled each second. */
  perSecond: number;
  /** Tokens at most. */
  burst: number;
}

/** Tokens left, and the time of their count (ms). A bucket unused for long is full, and need not be kept. */
export interface Bucket {
  left: number;
  at: number;
}

/** Takes a token. Without one, returns the time until there is one, and takes nothing. */
export function takeOne(
  rate: Rate,
  bucket: Bucket | undefined,
  now: number,
): { bucket: Bucket; waitMs: number } {
  const { perSecond, burst } = rate;
  const since = bucket ? Math.max(0, now - bucket.at) : 0;
  const left = bucket ? Math.min(burst, bucket.left + (since / 1_000) * perSecond) : burst;
  if (left >= 1) return { bucket: { left: left - 1, at: now }, waitMs: 0 };
  return { bucket: { left, at: now }, waitMs: ((1 - left) / perSecond) * 1_000 };
}

/** Returns the part of a rate that each of several processes allows, when a front spreads the calls among them. */
export function partOf({ perSecond, burst }: Rate, processes: number): Rate {
  return { perSecond: perSecond / processes, burst: Math.max(1, Math.ceil(burst / processes)) };
}

export function isFull(rate: Rate, { left, at }: Bucket, now: number): boolean {
  return left + (Math.max(0, now - at) / 1_000) * rate.perSecond >= rate.burst;
}

/** Token buckets by key, in memory: at most so many, the idle and the longest unseen forgotten first. */
export class Buckets {
  readonly #whole: Rate;
  readonly #most: number;
  readonly #replicas: { readonly count: number };
  readonly #buckets = new Map<string, Bucket>();

  /** @param replicas Each allows its part of the rate; by default all of it is allowed here. */
  constructor(rate: Rate, most: number, replicas: { readonly count: number } = { count: 1 }) {
    this.#whole = rate;
    this.#most = most;
    this.#replicas = replicas;
  }

  /** Takes a token. Returns the time until there is one: 0 when it was taken. */
  take(key: string, now: number): number {
    const rate = partOf(this.#whole, this.#replicas.count);
    const { bucket, waitMs } = takeOne(rate, this.#buckets.get(key), now);
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > this.#most) this.#forget(rate, now);
    return waitMs;
  }

  #forget(rate: Rate, now: number): void {
    for (const [key, bucket] of this.#buckets) if (isFull(rate, bucket, now)) this.#buckets.delete(key);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > this.#most && oldest !== undefined) this.#buckets.delete(oldest);
  }
}
