/**
 * Routes of a service with an identity provider: /v1/sign-in/provider begins a sign-in there, its callback receives the
 * browser, and its logout receives the provider's reports.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { validateInput } from '../../../catalog/validate.ts';
import type { IdentityProviderSignIns } from '../../../control/people/identity-provider-sign-ins.ts';
import type { Services } from '../../../control/services.ts';
import { CALLBACK_PATH } from '../../../model/access/identity.ts';
import { auditActions } from '../../../model/audit.ts';
import { errorTable, invalidArgument, SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { parseSmallBody } from '../base/json-body.ts';
import { originOf, subjectOf } from '../base/origin.ts';
import { messagePage } from './authorization-page.ts';
import { endPending, pendingOf, setCookie, setPending } from './cookies.ts';
import { Attempts } from './network-rate.ts';
import { addOpenPost, earlierOf, endEarlier } from './opening.ts';

/** @param attempts Counted together with the other ways of signing in. */
export function addIdentityProviderRoutes(
  app: FastifyInstance,
  services: Services,
  attempts: Attempts,
): void {
  const { identityProviderSignIns, audit } = services;
  if (!identityProviderSignIns) return;
  addStart(app, identityProviderSignIns, attempts);
  addCallback(app, identityProviderSignIns, services);
  addLogout(app, identityProviderSignIns, audit);
}

/**
 * POST /v1/sign-in/provider begins a sign-in at the identity provider, for the service's own page alone: no other site
 * sends a browser on its way.
 */
const starting = z.strictObject({
  return_path: z.string().min(1).max(limits.identity.returnPathChars).default('/'),
});

function addStart(
  app: FastifyInstance,
  identityProviderSignIns: IdentityProviderSignIns,
  attempts: Attempts,
): void {
  const route = { url: '/v1/sign-in/provider', bodyBytes: limits.signIn.bodyBytes, attempts };
  addOpenPost(app, route, async ({ arrival, body }, reply) => {
    const given = parseSmallBody(body, '{} or {"return_path": "/…"}');
    const { return_path: returnPath } = validateInput(starting, given);
    const { origin } = new URL(`${arrival.protocol}://${arrival.host}`);
    const { url, cookie, seconds } = await identityProviderSignIns.begin(arrival.client, origin, returnPath);
    setPending(reply, cookie, seconds);
    return { url };
  });
}

const POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
/** The address has the code: no site that is opened from here learns it. */
const HEADERS = {
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
};

/**
 * GET /v1/sign-in/provider/callback receives the browser back from the identity provider. The cookie of the start
 * authorizes it, once; the answer is the page, or a plain page with the reason.
 */
function addCallback(
  app: FastifyInstance,
  identityProviderSignIns: IdentityProviderSignIns,
  services: Pick<Services, 'signIns' | 'audit'>,
): void {
  // Of its own: who has begun a sign-in can end it.
  const attempts = new Attempts();
  // HEAD would use the code up without an answer.
  app.get(CALLBACK_PATH, { config: { open: true }, exposeHeadRoute: false }, async (request, reply) => {
    try {
      attempts.count(request.arrival.client);
      assertOpened(request);
      const query = new URL(request.url, 'http://page').search.slice(1);
      const cookie = pendingOf(request.headers.cookie);
      const signedIn = (await earlierOf(services, request))?.caller ?? null;
      const { client } = request.arrival;
      const { opened, returnPath } = await identityProviderSignIns.finish(client, cookie, query, signedIn);
      await endEarlier(services, request);
      request.caller = opened.caller;
      await services.audit.call(subjectOf(request, auditActions.signInByIdentityProvider), async () => {
        setCookie(reply, opened);
        endPending(reply);
      });
      return reply.headers(HEADERS).redirect(returnPath, 303);
    } catch (error) {
      if (!(error instanceof SandhavenError)) throw error;
      return refuse(request, reply, error);
    }
  });
}

/** Throws `permission_denied` where a browser says that it loads a part of some page, rather than a page. */
function assertOpened({ headers }: FastifyRequest): void {
  const what = headers['sec-fetch-dest'];
  if (what === undefined || what === 'document') return;
  throw new SandhavenError('permission_denied', 'Only a browser that opens this address signs in.', {
    hint: 'Sign in from the page.',
  });
}

function refuse(request: FastifyRequest, reply: FastifyReply, error: SandhavenError): FastifyReply {
  request.outcome = error.code;
  const text = [error.message, error.fields.hint].filter(Boolean).join(' ');
  return reply
    .code(errorTable[error.code].status)
    .headers(HEADERS)
    .type('text/html; charset=utf-8')
    .send(messagePage('Not signed in', text, 'Back to the page'));
}

/**
 * POST /v1/sign-in/provider/logout receives logout tokens of the identity provider, whose signature authorizes them.
 *
 * Source: OpenID Connect Back-Channel Logout 1.0, sections 2.5 to 2.8.
 */
function addLogout(
  app: FastifyInstance,
  identityProviderSignIns: IdentityProviderSignIns,
  audit: Services['audit'],
): void {
  const attempts = new Attempts(limits.identity.logoutRate);
  app.register(async (forms) => {
    forms.removeAllContentTypeParsers();
    forms.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: limits.identity.logoutBytes },
      (_request, body, done) => done(null, new URLSearchParams(String(body))),
    );
    forms.post(
      '/v1/sign-in/provider/logout',
      { config: { open: true }, onRequest: async ({ arrival }) => attempts.count(arrival.client) },
      async (request) => {
        const tokens = request.body instanceof URLSearchParams ? request.body.getAll('logout_token') : [];
        const [token, another] = tokens;
        if (token === undefined || token === '' || another !== undefined) throw noToken();
        const begun = performance.now();
        const ended = await identityProviderSignIns.logOut(request.arrival.client, token);
        // Only tokens that count are in the log: nobody fills it with others.
        const subject = {
          ...{ action: auditActions.signOutByIdentityProvider, caller: { id: null, keyId: null } },
          ...{ origin: originOf(request), requestId: request.id },
        };
        audit.note(subject, { outcome: 'ok', durationMs: performance.now() - begun, sandboxId: null });
        return { ended };
      },
    );
  });
}

function noToken(): Error {
  return invalidArgument('logout_token', 'The form has no logout_token, or several.', 'Send exactly one.');
}
