/**
 * POST /v1/sign-in/provider/logout receives logout tokens of the identity provider, whose signature authorizes them.
 *
 * Source: OpenID Connect Back-Channel Logout 1.0, sections 2.5 to 2.8.
 */
import type { FastifyInstance } from 'fastify';
import type { ProviderSignIns } from '../../../../control/people/provider/provider-sign-ins.ts';
import type { Services } from '../../../../control/services.ts';
import { auditActions } from '../../../../model/audit.ts';
import { invalidArgument } from '../../../../model/errors.ts';
import { limits } from '../../../../model/limits.ts';
import { originOf } from '../../origin.ts';
import { Attempts } from '../attempts.ts';

export function addLogout(
  app: FastifyInstance,
  providerSignIns: ProviderSignIns,
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
        const ended = await providerSignIns.logOut(request.arrival.client, token);
        // Only tokens that count are in the log: nobody fills it with others.
        const subject = {
          ...{ action: auditActions.signOutByProvider, caller: { id: null, keyId: null } },
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
