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
