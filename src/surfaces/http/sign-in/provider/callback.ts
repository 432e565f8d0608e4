/**
 * GET /v1/sign-in/provider/callback receives the browser back from the identity provider. The cookie of the start
 * authorizes it, once; the answer is the page, or a plain page with the reason.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ProviderSignIns } from '../../../../control/people/provider/provider-sign-ins.ts';
import type { Services } from '../../../../control/services.ts';
import { CALLBACK_PATH } from '../../../../model/access/identity.ts';
import { auditActions } from '../../../../model/audit.ts';
import { errorTable, SandhavenError } from '../../../../model/errors.ts';
import { subjectOf } from '../../origin.ts';
import { messagePage } from '../../routes/authorization-page.ts';
import { Attempts } from '../attempts.ts';
import { setCookie } from '../cookie.ts';
import { earlierOf, endEarlier } from '../opening.ts';
import { endPending, pendingOf } from './pending-cookie.ts';

const POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
/** The address has the code: no site that is opened from here learns it. */
const HEADERS = {
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
};

export function addCallback(
  app: FastifyInstance,
  providerSignIns: ProviderSignIns,
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
      const { opened, returnPath } = await providerSignIns.finish(client, cookie, query, signedIn);
      await endEarlier(services, request);
      request.caller = opened.caller;
      await services.audit.call(subjectOf(request, auditActions.signInByProvider), async () => {
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
