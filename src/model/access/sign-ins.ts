/**
 * Sign-ins of browsers: the tokens that open one, as pure decisions. Times are milliseconds since the epoch.
 *
 * A token is replaced after a while, and the old one ends once the new one was used: an answer that is lost on its way, or
 * requests side by side, sign nobody out. Whoever uses an ended token has a copy that the browser gave up, so the sign-in
 * ends.
 */
import { timingSafeEqual } from 'node:crypto';
import { invalidArgument } from '../errors.ts';
import { limits } from '../limits.ts';

/** Name of the cookie with the token. Its prefix has browsers keep it to one host and to secure connections. */
export const SIGN_IN_COOKIE = '__Host-sandhaven';

/** Name of the cookie of a sign-in under way at the identity provider. */
export const PENDING_COOKIE = '__Host-sandhaven-provider';

/** SHA-256 of each token. */
export interface SignInTokens {
  hash: Buffer;
  /** Time since which `hash` is the one in use. */
  since: number;
  /** Given to the browser, and not used yet. */
  nextHash: Buffer | null;
  nextAt: number | null;
  previousHash: Buffer | null;
  previousUntil: number | null;
}

export interface SignIn {
  id: string;
  userId: string;
  /** Key that it was opened with, and ends with; null: opened otherwise. */
  keyId: string | null;
  /** Id of the admin who made the key, the link or the identity that it came by; null: the user's own. */
  madeBy: string | null;
  createdAt: number;
  lastUsedAt: number;
  /** End of it, used or not. */
  expiresAt: number;
}

export type Verdict =
  | { kind: 'valid' }
  /** Valid; `tokens` replace the stored ones. */
  | { kind: 'confirmed'; tokens: SignInTokens }
  /** Valid, and due for a new token. */
  | { kind: 'due' }
  /** A token that has ended: somebody has a copy. */
  | { kind: 'stolen' }
  | { kind: 'unknown' };

/** Judges the token with this hash. */
export function judge(tokens: SignInTokens, hash: Buffer, now: number): Verdict {
  const { rotateMs, offerAgainMs, overlapMs } = limits.signIn;
  if (isSame(tokens.hash, hash)) {
    const isOld = now - tokens.since >= rotateMs;
    const isOffered = tokens.nextAt !== null && now - tokens.nextAt < offerAgainMs;
    return isOld && !isOffered ? { kind: 'due' } : { kind: 'valid' };
  }
  if (isSame(tokens.nextHash, hash)) {
    const ended = { previousHash: tokens.hash, previousUntil: now + overlapMs };
    return { kind: 'confirmed', tokens: { ...fresh(hash, now), ...ended } };
  }
  if (!isSame(tokens.previousHash, hash)) return { kind: 'unknown' };
  return now <= (tokens.previousUntil ?? 0) ? { kind: 'valid' } : { kind: 'stolen' };
}

export function fresh(hash: Buffer, now: number): SignInTokens {
  return { hash, since: now, nextHash: null, nextAt: null, previousHash: null, previousUntil: null };
}

/** Returns true while the sign-in holds at all. */
export function isLive({ lastUsedAt, expiresAt }: SignIn, now: number): boolean {
  return now < expiresAt && now - lastUsedAt < limits.signIn.idleMs;
}

function isSame(known: Buffer | null, hash: Buffer): boolean {
  return known !== null && known.length === hash.length && timingSafeEqual(known, hash);
}

/** Paths that are no screens of the page. */
const ROUTES = /^\/(?:v1|mcp|auth|assets)(?:[/?#]|$)/i;

/**
 * Returns the path of the page that a browser goes to after its sign-in. Throws `invalid_argument` for a route of the API, and for
 * anything that a browser could take for another site.
 */
export function parseReturnPath(text: string): string {
  // No backslash, which browsers read as a slash, and no control characters, which they leave out.
  const isPlain =
    text.length <= limits.identity.returnPathChars && /^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(text);
  const url = isPlain ? URL.parse(text, 'http://page.invalid') : null;
  const isOwn = url?.origin === 'http://page.invalid' && !url.pathname.startsWith('//');
  if (isOwn && !ROUTES.test(url.pathname)) return url.pathname + url.search + url.hash;
  throw invalidArgument(
    'return_path',
    'The return path must be a path of the page, such as /sandboxes.',
    'Give a path that begins with one slash, without a host, or leave it out.',
  );
}
