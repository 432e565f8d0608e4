/** Cookie with the challenge of a passkey, from the question to the answer. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Asking } from '../../../control/credentials/passkeys.ts';
import { CHALLENGE_COOKIE } from '../../../model/access/challenge.ts';
import { limits } from '../../../model/limits.ts';
import { cookieOf } from './cookie.ts';

const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict';

/** Sets the cookie beside others. */
export function setChallenge(reply: FastifyReply, value: string): void {
  const seconds = limits.passkeys.challengeMs / 1_000;
  reply.raw.appendHeader('set-cookie', `${CHALLENGE_COOKIE}=${value}; ${ATTRIBUTES}; Max-Age=${seconds}`);
}

export function endChallenge(reply: FastifyReply): void {
  reply.raw.appendHeader('set-cookie', `${CHALLENGE_COOKIE}=; ${ATTRIBUTES}; Max-Age=0`);
}

/** Returns the page that asks, and its challenge. */
export function askingOf(request: FastifyRequest): Asking {
  return { origin: originOfPage(request), cookie: cookieOf(request.headers.cookie, CHALLENGE_COOKIE) };
}

export function originOfPage({ arrival }: Pick<FastifyRequest, 'arrival'>): string {
  return `${arrival.protocol}://${arrival.host}`;
}
