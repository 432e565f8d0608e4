/** Cookie of a browser's sign-in. Browsers count loopback among the secure connections that it needs. */
import type { FastifyReply } from 'fastify';
import type { Opened } from '../../../control/people/sign-ins.ts';
import { SIGN_IN_COOKIE } from '../../../model/access/sign-ins.ts';

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
