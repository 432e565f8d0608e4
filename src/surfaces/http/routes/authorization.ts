/**
 * Receives browsers back from the code-hosting provider. Requests have no key: the state in the query authorizes
 * them, once. The page shows the person the user who would get the authorization and asks for consent, so that
 * nobody gives their repositories away by opening somebody else's URL.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AuthorizationService, Completed } from '../../../control/provider/authorizations.ts';
import type { Services } from '../../../control/services.ts';
import { auditActions } from '../../../model/audit.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { originOf } from '../base/origin.ts';
import { askPage, messagePage } from '../sign-in/authorization-page.ts';

/** Denies the page script, style, frames and other form targets: it has none. */
const POLICY = "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
const opaque = /^[\x21-\x7e]{1,1024}$/;

const GONE =
  'This link was used already, or its ten minutes are over. Begin again: ask for the authorization once more.';

export function addAuthorizationRoutes(app: FastifyInstance, services: Services): void {
  const { authorizations, audit } = services;
  if (!authorizations) return;
  const url = `/auth/${authorizations.host.name}/callback`;
  const config = { open: true };
  app.get(url, { config }, (request, reply) => returned(authorizations, request, reply));
  app.register(async (forms) => {
    forms.removeAllContentTypeParsers();
    forms.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: limits.provider.formBytes },
      (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
    );
    forms.post(url, { config }, (request, reply) => agreed({ authorizations, audit }, request, reply));
  });
}

/** Viewing consumes nothing, unless the provider reports a denial. */
async function returned(
  authorizations: AuthorizationService,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { state, code, error } = textsOf(request.query);
  const host = new URL(authorizations.host.url).host;
  if (state !== undefined && error !== undefined) {
    const user = await authorizations.deny(state);
    if (user) return show(reply, 200, messagePage('Not authorized', `Nothing was allowed at ${host}.`));
  }
  const user = state === undefined ? null : await authorizations.whoAsks(state);
  if (!user || state === undefined || code === undefined)
    return show(reply, 400, messagePage('Too late', GONE));
  return show(reply, 200, askPage({ host, user, action: request.routeOptions.url ?? '', state, code }));
}

interface Agreeing {
  authorizations: AuthorizationService;
  audit: Services['audit'];
}

async function agreed(parts: Agreeing, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { state, code } = textsOf(request.body);
  const host = new URL(parts.authorizations.host.url).host;
  try {
    const done = state && code ? await completed(parts, request, state, code) : null;
    if (!done) return show(reply, 400, messagePage('Too late', GONE));
    if (done.outcome.status === 'denied') {
      return show(reply, 403, messagePage('Not authorized', done.outcome.reason));
    }
    const { login } = done.outcome.account;
    const text = `${done.user.name} (${done.user.email}) now uses ${host} as ${login}. You can close this page.`;
    return show(reply, 200, messagePage('Authorized', text));
  } catch (error) {
    if (!(error instanceof SandhavenError)) throw error;
    return show(reply, 502, messagePage('Not authorized', `${error.message} ${error.fields.hint ?? ''}`));
  }
}

/** Writes the audit row in the name of the authorization's user. */
async function completed(
  { authorizations, audit }: Agreeing,
  request: FastifyRequest,
  state: string,
  code: string,
): Promise<Completed | null> {
  const user = await authorizations.whoAsks(state);
  if (!user) return null;
  const subject = {
    action: auditActions.providerAuthorize,
    caller: { id: user.id, keyId: null },
    origin: originOf(request),
    requestId: request.id,
  };
  let done: Completed | null = null;
  const denied = () => (done?.outcome.status === 'denied' ? 'permission_denied' : null);
  await audit.call(
    subject,
    async () => {
      done = await authorizations.complete(state, code);
    },
    denied,
  );
  return done;
}

function show(reply: FastifyReply, status: number, page: string): FastifyReply {
  return reply
    .code(status)
    .headers({
      'content-security-policy': POLICY,
      // Sends the referrer to its own origin alone, which identifies a form of this page.
      'referrer-policy': 'same-origin',
      'x-frame-options': 'DENY',
    })
    .type('text/html; charset=utf-8')
    .send(page);
}

function textsOf(given: unknown): { state?: string; code?: string; error?: string } {
  const found: { state?: string; code?: string; error?: string } = {};
  for (const key of ['state', 'code', 'error'] as const) {
    const value = (given as Record<string, unknown> | null)?.[key];
    if (typeof value === 'string' && opaque.test(value)) found[key] = value;
  }
  return found;
}
