/**
 * Lets the person who is signed in to the page decide about an application's request. The browser has to be the one in which
 * the request began: it holds the request's own cookie, so nobody else's request can be decided by a link.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type Provider from 'oidc-provider';
import type { InteractionResults } from 'oidc-provider';
import { z } from 'zod';
import { validateInput } from '../../../catalog/validate.ts';
import type { Services } from '../../../control/services.ts';
import { clientNameOf, hostOfRedirectUri, toolScopes, toolScopesIn } from '../../../model/access/oauth.ts';
import { auditActions } from '../../../model/audit.ts';
import { invalidArgument, notFound, SandhavenError } from '../../../model/errors.ts';
import { isSignInId } from '../../../model/ids.ts';
import { networkOf } from '../../../model/network/arrival.ts';
import { hasScope, type Scope } from '../../../model/scopes.ts';
import { subjectOf } from '../base/origin.ts';
import type { Issuers } from './issuers.ts';
import { resourceAt } from './metadata.ts';

const decision = z.strictObject({
  allow: z.boolean(),
  scopes: z.array(z.enum(toolScopes)).max(toolScopes.length).optional(),
});

/** An application's request, as a person should see it. */
interface Asked {
  clientId: string;
  clientName: string | null;
  redirectHost: string;
  resource: string;
  /** Those of the request that the caller may give. */
  scopes: Scope[];
}

type Params = { Params: { uid: string } };

export function addConsentRoutes(
  app: FastifyInstance,
  services: Pick<Services, 'apps' | 'audit'>,
  issuers: Issuers,
): void {
  app.get<Params>('/authorize/:uid/request', { exposeHeadRoute: false }, async (request) => {
    const { asked } = await open(request, issuers);
    const { clientId, clientName, redirectHost, resource } = asked;
    return {
      client: {
        ...{ client_id: clientId, name: clientName, redirect_host: redirectHost },
        described_at: URL.parse(clientId)?.host ?? null,
      },
      resource,
      scopes: asked.scopes,
    };
  });

  app.post<Params>('/authorize/:uid/decision', { config: { brief: true } }, async (request) => {
    const given = validateInput(decision, request.body);
    const { provider, asked } = await open(request, issuers);
    const { caller, raw } = request;
    const answer = request.answer;
    const decided = (result: InteractionResults) =>
      provider.interactionResult(raw, answer, result, { mergeWithLastSubmission: false });
    return audit(request, given.allow, async () => {
      if (!given.allow) {
        const denied = { error: 'access_denied', error_description: 'The person has denied the request.' };
        return { redirect_to: await decided(denied) };
      }
      const chosen = given.scopes ?? asked.scopes;
      const beyond = chosen.filter((scope) => !asked.scopes.includes(scope));
      if (beyond.length > 0) throw notAsked(beyond);
      const grant = await services.apps.allow(caller, { ...asked, scopes: chosen });
      const login = { accountId: caller.id, remember: false };
      return { redirect_to: await decided({ login, consent: { grantId: grant.id } }) };
    });
  });

  function audit<T>(request: FastifyRequest, allow: boolean, work: () => Promise<T>): Promise<T> {
    const action = allow ? auditActions.appAllow : auditActions.appDeny;
    return services.audit.call(subjectOf(request, action), work);
  }
}

/** Rejects with `not_found` where this browser has no such request open. */
async function open(
  request: FastifyRequest<Params>,
  issuers: Issuers,
): Promise<{ provider: Provider; asked: Asked }> {
  const { raw, caller, params, arrival } = request;
  if (!isSignInId(caller.keyId)) throw notAPerson();
  const { provider, findClient } = await issuers.serverOf(request, params.uid);
  const found = await provider.interactionDetails(raw, request.answer).catch(() => null);
  if (found === null || found.uid !== params.uid || found.result !== undefined) throw noRequest();
  const { client_id: clientId, redirect_uri: redirectUri, scope, resource } = found.params;
  const client = await findClient(String(clientId), networkOf(arrival.client));
  const wanted = resourceAt(provider.issuer);
  if (!client || typeof redirectUri !== 'string' || resource !== wanted) throw noRequest();
  const asked = {
    ...{ clientId: client.clientId, clientName: clientNameOf(client.clientName) },
    ...{ redirectHost: hostOfRedirectUri(redirectUri), resource: wanted },
    scopes: toolScopesIn(String(scope)).filter((one) => hasScope(caller, one)),
  };
  return { provider, asked };
}

function noRequest(): SandhavenError {
  return notFound(
    'authorization_request',
    'This browser has no such request of an application open.',
    'Begin again in the application: a request is open for a quarter of an hour, in the browser that it began in.',
  );
}

function notAPerson(): SandhavenError {
  return new SandhavenError(
    'failed_precondition',
    'Only a person who is signed in to the page decides this.',
    {
      hint: 'Open the address in a browser and sign in there.',
    },
  );
}

function notAsked(beyond: readonly Scope[]): SandhavenError {
  return invalidArgument(
    'scopes',
    `The application does not ask for ${beyond.join(', ')}, or this sign-in cannot give it.`,
    'Choose among the scopes of the request.',
  );
}
