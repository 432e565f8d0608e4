/**
 * Attempts to deliver an event. Each is signed by the convention of Standard Webhooks, version 1: HMAC-SHA256 of id, time and body.
 * The pauses between them grow, with jitter, within bounds.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { limits } from '../limits.ts';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

export function newWebhookSecret(): string {
  return `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;
}

export interface Signed {
  id: string;
  /** Time of the attempt, in seconds since the epoch. */
  timestamp: number;
  body: string;
}

/** Returns the headers of one attempt, with a signature for each secret. */
export function signedHeaders(
  { id, timestamp, body }: Signed,
  secrets: readonly string[],
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}

const { retry } = limits.webhooks;

/**
 * Returns the pause before the next attempt.
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
