/**
 * Passkeys: public keys of WebAuthn, each made by an authenticator of its user for one host name.
 *
 * The service keeps no challenge before its answer: the browser carries it in a cookie with a MAC, so that any replica can check
 * the answer, and strangers fill no table by asking.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { limits } from '../limits.ts';

export interface Passkey {
  id: string;
  userId: string;
  /** Purpose, in its owner's words. */
  name: string;
  /** Id that the authenticator chose, in base64url. */
  credentialId: string;
  /** In COSE form. */
  publicKey: Buffer;
  /** Last count of the authenticator's signatures; 0 where it keeps none. */
  counter: number;
  /** Ways to reach the authenticator, as the browser named them. */
  transports: string[];
  /** Host name that it works at: the RP ID. */
  rpId: string;
  createdAt: number;
  /** null: never. */
  lastUsedAt: number | null;
}

/** Place of the page, which passkeys are bound to. */
export interface PasskeySite {
  origin: string;
  rpId: string;
}

/** Returns null where browsers offer no passkeys: at an address in place of a name, and over plain HTTP beyond the machine. */
export function passkeySite(origin: string): PasskeySite | null {
  const url = URL.parse(origin);
  if (url === null) return null;
  const { hostname, protocol } = url;
  const isAddress = hostname.startsWith('[') || /^[\d.]+$/.test(hostname);
  const isSecure = protocol === 'https:' || /^(?:.+\.)?localhost$/.test(hostname);
  return isAddress || !isSecure ? null : { origin: url.origin, rpId: hostname };
}

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
