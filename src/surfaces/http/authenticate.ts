/**
 * Authenticates the caller by the key in the headers, at MCP by an application's token too, or by the cookie of this service's
 * own page. No other request is
 * authorized because a browser sent it.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { refusedToTokens } from '../../catalog/base/sandbox-view.ts';
import type { Services } from '../../control/services.ts';
import { SandhavenError } from '../../model/errors.ts';
import type { Caller } from '../../model/user.ts';
import { challenge, resourceAt } from './oauth/metadata.ts';
import { assertOwnPage, cookieOf, endedCookie, setCookie } from './sign-in/cookies.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** For programs: a browser's sign-in opens nothing here. */
    keysOnly?: boolean;
    /** Takes tokens of one sandbox too: what it does is inside of one. */
    sandboxTokens?: boolean;
    /** Takes tokens of applications too. */
    appTokens?: boolean;
    /** Counts calls in the body towards the key's rate, not the request. */
    countsItself?: boolean;
    /** Returns the key, or the token, of clients that send it elsewhere, or in another form. */
    keyIn?(request: FastifyRequest): string | null;
  }
}

type Identities = Pick<Services, 'identity' | 'signIns' | 'apps' | 'teams'>;

const TEAM_HEADER = 'sandhaven-team';

/**
 * Returns the caller, as acting for the team that the key is bound to or that the request names. Rejects with
 * `unauthenticated`; a cookie in the hands of another page with `permission_denied`, an unknown team with `not_found`.
 */
export async function authenticate(
  services: Identities,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Caller> {
  const caller = await authenticateUser(services, request, reply);
  const countsItself = request.routeOptions.config?.countsItself === true;
  // Before the team is looked up.
  if (!countsItself) services.identity.count(caller);
  try {
    if (caller.only && !request.routeOptions.config?.sandboxTokens) throw refusedToTokens('This route');
    return await services.teams.acting(caller, teamIn(request));
  } catch (error) {
    if (countsItself) services.identity.count(caller);
    throw error;
  }
}

async function authenticateUser(
  { identity, signIns, apps }: Identities,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Caller> {
  const { headers, routeOptions } = request;
  const { keyIn } = routeOptions.config ?? {};
  const key = keyIn ? keyIn(request) : keyOf(headers.authorization, headers['x-api-key']);
  const cookie = routeOptions.config?.keysOnly ? null : cookieOf(headers.cookie);
  if (key === null && cookie !== null) return authenticatePage(signIns, cookie, request, reply);
  // Tokens of applications are good for MCP, at the address that they were issued for.
  const origin = routeOptions.config?.appTokens ? request.publicOrigin : null;
  if (key === null) {
    if (origin !== null) reply.header('www-authenticate', challenge(origin));
    throw new SandhavenError('unauthenticated', 'The request has no API key.', {
      hint: 'Send `Authorization: Bearer <API_KEY>`.',
    });
  }
  const user = await identity.authenticate(key);
  if (user) return user;
  const app = origin === null ? null : await apps.authenticate(key, resourceAt(origin));
  if (app) return app;
  if (origin !== null) reply.header('www-authenticate', challenge(origin, { error: 'invalid_token' }));
  throw new SandhavenError('unauthenticated', 'The API key is not valid.', {
    hint: 'Check SANDBOX_API_KEY; the key of a new service is in the file api-key of its data directory.',
  });
}

async function authenticatePage(
  signIns: Services['signIns'],
  cookie: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Caller> {
  assertOwnPage(request);
  const opened = await signIns.authenticate(cookie);
  if (opened) {
    setCookie(reply, opened);
    return opened.caller;
  }
  reply.raw.setHeader('set-cookie', endedCookie);
  throw new SandhavenError('unauthenticated', 'The sign-in is over.', { hint: 'Sign in again.' });
}

/**
 * Returns the team that the request names. Browsers let no script give a WebSocket headers, so an upgrade may name the team
 * in its query. Of several headers it is the joined text, which names no team.
 */
function teamIn({ headers, query }: FastifyRequest): string | undefined {
  const inQuery = headers.upgrade === undefined ? undefined : (query as Record<string, unknown>)['team'];
  const given = headers[TEAM_HEADER] ?? (inQuery === undefined ? undefined : String(inQuery));
  const wanted = Array.isArray(given) ? given.join(', ') : given;
  return wanted === '' ? undefined : wanted;
}

function keyOf(authorization: string | undefined, apiKey: string | string[] | undefined): string | null {
  const bearer = authorization === undefined ? null : /^bearer +(\S+) *$/i.exec(authorization);
  if (bearer?.[1]) return bearer[1];
  return typeof apiKey === 'string' && apiKey !== '' ? apiKey : null;
}
