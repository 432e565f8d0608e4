/**
 * Cookies of a browser's sign-in, of a passkey's challenge, and of a sign-in under way at the identity provider.
 * Browsers count loopback among the secure connections that cookies need.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Asking } from '../../../control/credentials/passkeys.ts';
import type { Opened } from '../../../control/people/sign-ins.ts';
import { CHALLENGE_COOKIE } from '../../../model/access/passkeys.ts';
import { PENDING_COOKIE, SIGN_IN_COOKIE } from '../../../model/access/sign-ins.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';

// Lax: the browser comes back from the identity provider, another site, by a link.
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax';

/** Sets the cookie, for as long as the sign-in may last, where there is a new token. */
export function setCookie(reply: FastifyReply, { signIn, token }: Pick<Opened, 'signIn' | 'token'>): void {
  if (token === null) return;
  const seconds = Math.max(0, Math.floor((signIn.expiresAt - Date.now()) / 1_000));
  const value = `${SIGN_IN_COOKIE}=${signIn.id}.${token}; ${ATTRIBUTES}; Max-Age=${seconds}`;
  // Beside the end of another cookie.
  reply.raw.appendHeader('set-cookie', value);
}

export const endedCookie = `${SIGN_IN_COOKIE}=; ${ATTRIBUTES}; Max-Age=0`;

/** Returns null without the cookie, and with two of them: one was set by somebody else. */
export function cookieOf(header: string | undefined, name: string = SIGN_IN_COOKIE): string | null {
  const found = (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`));
  const [only, another] = found;
  return only === undefined || another !== undefined ? null : only.slice(name.length + 1);
}

const CHALLENGE_ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict';

/** Cookie with the challenge of a passkey, from the question to the answer. Sets the cookie beside others. */
export function setChallenge(reply: FastifyReply, value: string): void {
  const seconds = limits.passkeys.challengeMs / 1_000;
  reply.raw.appendHeader(
    'set-cookie',
    `${CHALLENGE_COOKIE}=${value}; ${CHALLENGE_ATTRIBUTES}; Max-Age=${seconds}`,
  );
}

export function endChallenge(reply: FastifyReply): void {
  reply.raw.appendHeader('set-cookie', `${CHALLENGE_COOKIE}=; ${CHALLENGE_ATTRIBUTES}; Max-Age=0`);
}

/** Returns the page that asks, and its challenge. */
export function askingOf(request: FastifyRequest): Asking {
  return { origin: originOfPage(request), cookie: cookieOf(request.headers.cookie, CHALLENGE_COOKIE) };
}

export function originOfPage({ arrival }: Pick<FastifyRequest, 'arrival'>): string {
  return `${arrival.protocol}://${arrival.host}`;
}

/** Cookie of a sign-in under way at the identity provider: it binds the callback to the browser that began. */
export function setPending(reply: FastifyReply, value: string, seconds: number): void {
  reply.raw.appendHeader('set-cookie', `${PENDING_COOKIE}=${value}; ${ATTRIBUTES}; Max-Age=${seconds}`);
}

export function endPending(reply: FastifyReply): void {
  reply.raw.appendHeader('set-cookie', `${PENDING_COOKIE}=; ${ATTRIBUTES}; Max-Age=0`);
}

/** Returns null without it, and with two of them. */
export function pendingOf(header: string | undefined): string | null {
  return cookieOf(header, PENDING_COOKIE);
}

/** Header that no form can send. */
export const PAGE_HEADER = 'x-sandhaven-request';

/**
 * Throws `permission_denied` for a request that another site may have caused, since browsers send cookies along: it has to come from
 * this very origin, and one that may change something has to carry the header.
 *
 * Source: Fetch Metadata Request Headers (W3C), and the OWASP Cross-Site Request Forgery Prevention Cheat Sheet.
 */
export function assertOwnPage({ method, headers, arrival }: FastifyRequest): void {
  const isSafe = (method === 'GET' || method === 'HEAD') && headers.upgrade === undefined;
  const site = headers['sec-fetch-site'];
  const isOwnSite = site === undefined || site === 'same-origin' || (site === 'none' && isSafe);
  const isOwnOrigin = headers.origin === originOfPage({ arrival });
  // Browsers name the Origin of everything but plain reads.
  if (!isOwnSite || (headers.origin === undefined ? !isSafe : !isOwnOrigin)) throw foreign();
  if (!isSafe && headers.upgrade === undefined && headers[PAGE_HEADER] === undefined) throw foreign();
}

function foreign(): SandhavenError {
  return new SandhavenError('permission_denied', 'The sign-in of a browser is for this service’s own page.', {
    parameter: 'Origin',
    hint: `Use an API key from programs and other sites. The page sends its Origin and ${PAGE_HEADER}.`,
  });
}
