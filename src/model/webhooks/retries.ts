/** Times of the next attempts: exponential, with jitter, within bounds; a receiver may ask for a later one. */
import { limits } from '../limits.ts';

const { retry } = limits.webhooks;

/**
 * @param attempts Attempts so far, from 1.
 * @param chance From 0 to 1, drawn anew for each pause, so that receivers are not asked by all at once.
 * @param askedMs Pause that the receiver asked for; null: none.
 */
export function pauseAfter(attempts: number, chance: number, askedMs: number | null): number {
  const grown = Math.min(retry.firstMs * retry.factor ** Math.min(attempts - 1, 20), retry.mostMs);
  const own = grown * (1 + retry.jitter * (2 * chance - 1));
  return Math.round(Math.min(retry.mostMs, Math.max(own, askedMs ?? 0)));
}

/** Parses `Retry-After`, seconds or a date; null for anything else, and for the past. */
export function retryAfterMs(header: string | null, now: number): number | null {
  if (header === null) return null;
  const text = header.trim();
  const isDate = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(text);
  if (!isDate && !/^\d{1,10}$/.test(text)) return null;
  const ms = isDate ? Date.parse(text) - now : Number(text) * 1_000;
  return Number.isFinite(ms) && ms > 0 ? ms : null;
}
