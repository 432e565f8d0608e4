/**
 * Challenges of WebAuthn. The service keeps none until it was answered: the browser carries it in a cookie with a MAC, so that any
 * replica can check the answer, and strangers fill no table by asking.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { limits } from '../limits.ts';

/** Name of the cookie with the challenge. */
export const CHALLENGE_COOKIE = '__Host-sandhaven-challenge';

export interface Challenge {
  /** 32 random bytes in base64url. */
  text: string;
  expiresAt: number;
}

const FORM = /^([\w-]{43})\.(\d{1,16})\.([\w-]{43})$/;

/** @param about Purpose, and the sign-in that asks where there is one: an answer to another question does not count. */
export function issueChallenge(
  key: Buffer,
  about: string,
  now: number,
): { challenge: Challenge; cookie: string } {
  const challenge = {
    text: randomBytes(32).toString('base64url'),
    expiresAt: now + limits.passkeys.challengeMs,
  };
  const mac = macOf(key, about, challenge).toString('base64url');
  return { challenge, cookie: `${challenge.text}.${challenge.expiresAt}.${mac}` };
}

/** Returns null for a cookie that is missing, over, changed, or about something else. */
export function readChallenge(
  key: Buffer,
  about: string,
  cookie: string | null,
  now: number,
): Challenge | null {
  const [, text = '', expires = '', mac = ''] = FORM.exec(cookie ?? '') ?? [];
  const challenge = { text, expiresAt: Number(expires) };
  const given = Buffer.from(mac, 'base64url');
  const known = macOf(key, about, challenge);
  if (given.length !== known.length || !timingSafeEqual(given, known)) return null;
  return now < challenge.expiresAt ? challenge : null;
}

function macOf(key: Buffer, about: string, { text, expiresAt }: Challenge): Buffer {
  return createHmac('sha256', key)
    .update(JSON.stringify([about, text, expiresAt]))
    .digest();
}
