/**
 * A sign-in under way at the identity provider, sealed into a cookie of the browser that began it: no replica keeps
 * anything, and whoever begins many fills nothing.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { SignInProof } from '../../../model/access/identity.ts';
import { limits } from '../../../model/limits.ts';

export interface PendingSignIn extends SignInProof {
  /** Provider that it began at: the operator may have changed it since. */
  issuer: string;
  /** Path of the page. */
  returnPath: string;
  expiresAt: number;
}

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const PURPOSE = Buffer.from('pending sign-in');

/** @param key 32 bytes that all replicas have, for this purpose alone. */
export function sealPending(key: Buffer, pending: PendingSignIn): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(PURPOSE);
  const sealed = Buffer.concat([cipher.update(JSON.stringify(pending)), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
}

/** Returns null for anything that was not sealed here, or is over. */
export function openPending(key: Buffer, cookie: string | null, now: number): PendingSignIn | null {
  if (cookie === null || cookie.length > limits.identity.cookieChars) return null;
  const box = Buffer.from(cookie, 'base64url');
  if (box.length <= NONCE_BYTES + TAG_BYTES) return null;
  try {
    const decipher = createDecipheriv(ALGORITHM, key, box.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(PURPOSE).setAuthTag(box.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const text = Buffer.concat([decipher.update(box.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
    const pending = JSON.parse(text.toString('utf8')) as PendingSignIn;
    return pending.expiresAt > now ? pending : null;
  } catch {
    return null;
  }
}
