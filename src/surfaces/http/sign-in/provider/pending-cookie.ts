/** Cookie of a sign-in under way at the identity provider: it binds the callback to the browser that began. */
import type { FastifyReply } from 'fastify';
import { PENDING_COOKIE } from '../../../../model/access/sign-ins.ts';
import { cookieOf } from '../cookie.ts';

// Lax: the browser comes back from another site, by a link.
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax';

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
