/**
 * Routes that sign a browser in: open to anybody, so their bodies are small, and their attempts are counted. The answer sets the
 * cookie; the sign-in that this browser had before ends.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Opened } from '../../../control/people/sign-ins.ts';
import type { Services } from '../../../control/services.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { isSignInId } from '../../../model/ids.ts';
import { keepsSignIn } from '../../../model/network/service-names.ts';
import type { Caller } from '../../../model/user.ts';
import { parseSmallBody, takeSmallBodies } from '../base/json-body.ts';
import { subjectOf } from '../base/origin.ts';
import { assertOwnPage, cookieOf, setCookie } from './cookies.ts';
import type { Attempts } from './network-rate.ts';

export interface Opening {
  url: string;
  bodyBytes: number;
  /** Name in the audit log. */
  action: string;
  /** Body as it should be, for people. */
  example: string;
  /** @param body Parsed, and of any shape. */
  openWith(request: FastifyRequest, body: unknown, reply: FastifyReply): Promise<Opened>;
}

type Parts = Pick<Services, 'signIns' | 'audit'>;

export function addOpening(app: FastifyInstance, parts: Parts, attempts: Attempts, opening: Opening): void {
  const { url, bodyBytes, action, example, openWith } = opening;
  addOpenPost(app, { url, bodyBytes, attempts }, async (request, reply) => {
    const opened = await openWith(request, parseSmallBody(request.body, example), reply);
    await endEarlier(parts, request);
    // Only who has signed in is in the log: nobody fills it with attempts.
    request.caller = opened.caller;
    return parts.audit.call(subjectOf(request, action), async () => {
      setCookie(reply, opened);
      return viewOf(opened.caller);
    });
  });
}

/** @param attempts null: the route guesses nothing. */
export function addOpenPost(
  app: FastifyInstance,
  { url, bodyBytes, attempts }: { url: string; bodyBytes: number; attempts: Attempts | null },
  answer: (request: FastifyRequest, reply: FastifyReply) => Promise<object>,
): void {
  app.register(async (open) => {
    takeSmallBodies(open, bodyBytes);
    const onRequest = async (request: FastifyRequest) => {
      attempts?.count(request.arrival.client);
      assertOwnPage(request);
      assertSecure(request);
    };
    open.post(url, { config: { open: true }, onRequest }, answer);
  });
}

/** The browser has one cookie, so nobody could use or end the earlier sign-in by it. */
export async function endEarlier(parts: Pick<Parts, 'signIns'>, request: FastifyRequest): Promise<void> {
  const earlier = await earlierOf(parts, request);
  if (earlier) await parts.signIns.revoke(earlier.caller, earlier.signIn.id);
}

/** Returns the sign-in that the browser has so far; null for none. */
export async function earlierOf(
  { signIns }: Pick<Parts, 'signIns'>,
  { headers }: FastifyRequest,
): Promise<Opened | null> {
  const cookie = cookieOf(headers.cookie);
  return cookie === null ? null : signIns.authenticate(cookie);
}

/** Throws `failed_precondition`: browsers keep the cookie on secure connections and on loopback alone. */
function assertSecure({ arrival }: FastifyRequest): void {
  if (keepsSignIn(`${arrival.protocol}://${arrival.host}`)) return;
  throw new SandhavenError('failed_precondition', 'Browsers sign in over HTTPS, or on the machine itself.', {
    hint: 'The operator sets up TLS with --tls-cert and --tls-key, or a proxy: docs/reverse-proxy.md.',
  });
}

/** The caller, as the routes of sign-in show it. */
export function viewOf({ id, name, email, role, keyId, keyExpiresAt, scopes }: Caller) {
  return {
    ...{ user_id: id, name, email, role },
    scopes: scopes && [...scopes],
    sign_in_id: isSignInId(keyId) ? keyId : null,
    expires_at: keyExpiresAt === null ? null : new Date(keyExpiresAt).toISOString(),
  };
}
