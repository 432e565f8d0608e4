/**
 * Routes of the authorization server: its documents, and the way of its requests to the library. Requests have no key, so
 * each network has a rate of its own.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Services } from '../../../control/services.ts';
import type { Rate } from '../../../fairness/rate.ts';
import { clientNameOf, faultOfRedirectUri, toolScopes, toolScopesIn } from '../../../model/access/oauth.ts';
import { invalidArgument } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { networkOf } from '../../../model/network/arrival.ts';
import { breakOff } from '../../streams.ts';
import { NetworkRate } from '../sign-in/network-rate.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import { addConsentRoutes } from './consent.ts';
import { type IssuerDependencies, Issuers, issuerNamed, unknownOrigin } from './issuers.ts';
import { metadataPaths, oauthPaths, publicClient, resourceMetadata, serverMetadata } from './metadata.ts';

export interface OAuthDependencies extends Omit<IssuerDependencies, 'services'> {
  services: Services;
}

const config = { open: true };
const open = { config, exposeHeadRoute: false };

export function addOAuthRoutes(app: FastifyInstance, parts: OAuthDependencies): void {
  const issuers = new Issuers(parts);
  addMetadataRoutes(app);
  addRegistrationRoute(app, parts.services);
  addConsentRoutes(app, parts.services, issuers);
  app.register(async (raw) => {
    raw.removeAllContentTypeParsers();
    raw.addContentTypeParser('*', (_request, _payload, done) => done(null));
    addServerRoutes(raw, issuers);
  });
}

function addMetadataRoutes(app: FastifyInstance): void {
  for (const path of metadataPaths.resource)
    app.get(path, open, async ({ publicOrigin }) => resourceMetadata(known(publicOrigin)));
  app.get(metadataPaths.server, open, async ({ publicOrigin }) => serverMetadata(known(publicOrigin)));
}

function addServerRoutes(raw: FastifyInstance, issuers: Issuers): void {
  const { authorizeRate, tokenRate } = limits.oauth;
  const authorizing = { ...open, onRequest: counted(authorizeRate, 'authorization requests') };
  const fetching = { config, onRequest: counted(tokenRate, 'requests for tokens') };

  raw.get(oauthPaths.authorize, authorizing, async (request, reply) => {
    request.raw.url = withToolScopes(request.raw.url ?? '');
    return pass(request, reply, await issuers.serverFor(request));
  });
  raw.get<{ Params: { name: string } }>(
    `${oauthPaths.authorizeFrom}/:name`,
    authorizing,
    async (request, reply) => {
      const { port } = new URL(known(request.publicOrigin));
      const issuer = known(issuerNamed(`http://${request.params.name}:${port}`, request.publicOrigin));
      const [, query = ''] = (request.raw.url ?? '').split(/\?(.*)/s);
      request.raw.url = withToolScopes(`${oauthPaths.authorize}?${query}`);
      return pass(request, reply, await issuers.serverFor(request, issuer));
    },
  );
  raw.get<{ Params: { uid: string } }>(`${oauthPaths.authorize}/:uid`, authorizing, async (request, reply) =>
    pass(request, reply, await issuers.serverOf(request, request.params.uid)),
  );
  for (const path of [oauthPaths.token, oauthPaths.revoke])
    raw.post(path, fetching, async (request, reply) =>
      pass(request, reply, await issuers.serverFor(request)),
    );
}

/** Counts requests by network, before anything is done for them. */
function counted(rate: Rate, what: string): (request: FastifyRequest) => Promise<void> {
  const counter = new NetworkRate(rate, limits.oauth.networks);
  return async ({ arrival }) => counter.count(networkOf(arrival.client), what);
}

/** A sender that stalls is cut: the library waits for bodies without end. */
async function pass(
  request: FastifyRequest,
  reply: FastifyReply,
  { handle }: AuthorizationServer,
): Promise<FastifyReply> {
  const stalled = setTimeout(() => breakOff(request.raw.socket), limits.oauth.requestMs);
  reply.raw.once('close', () => clearTimeout(stalled));
  reply.hijack();
  await handle(request.raw, reply.raw);
  return reply;
}

/** Leaves out scopes that no tool needs, as the protocol allows; a request without any asks for those of tools. */
function withToolScopes(url: string): string {
  if (url.length > limits.oauth.urlChars)
    throw invalidArgument(
      'url',
      'The authorization request is too long.',
      'Shorten its state and redirect URI.',
    );
  const [path, query = ''] = url.split(/\?(.*)/s);
  const parameters = new URLSearchParams(query);
  const mode = parameters.get('response_mode');
  if (mode !== null && mode !== 'query')
    throw invalidArgument('response_mode', 'Codes come in the query alone.', 'Leave response_mode out.');
  const [given = '', ...more] = parameters.getAll('scope');
  // A repeated one is for the library to refuse.
  if (more.length > 0) return url;
  const wanted = toolScopesIn(given);
  parameters.set('scope', (wanted.length > 0 ? wanted : toolScopes).join(' '));
  return `${path}?${parameters}`;
}

function known(origin: string | null): string {
  if (origin === null) throw unknownOrigin();
  return origin;
}

// Registers clients that nobody has announced, as MCP's clients do at their first contact. A client is public: it gets an
// id and no secret. Whatever else it says of itself is left out.
//
// Source: RFC 7591.

const metadata = z.looseObject({
  redirect_uris: z.array(z.string()).min(1).max(limits.oauth.redirectUris),
  client_name: z.string().optional(),
  grant_types: z.array(z.string()).optional(),
  response_types: z.array(z.string()).optional(),
});

export function addRegistrationRoute(app: FastifyInstance, services: Pick<Services, 'oauth'>): void {
  const rate = new NetworkRate(limits.oauth.registerRate, limits.oauth.networks);
  app.register(async (open) => {
    open.removeAllContentTypeParsers();
    open.addContentTypeParser(
      'application/json',
      { parseAs: 'string', bodyLimit: limits.oauth.registrationBytes },
      (_request, body, done) => done(null, String(body)),
    );
    open.post(
      oauthPaths.register,
      {
        config: { open: true },
        onRequest: async ({ arrival, publicOrigin }) => {
          if (publicOrigin === null) throw unknownOrigin();
          rate.count(networkOf(arrival.client), 'registrations');
        },
      },
      async ({ body, arrival }, reply) => {
        const given = metadata.safeParse(parsed(body));
        if (!given.success)
          return refuse(reply, 'invalid_client_metadata', 'redirect_uris must be a list of URLs.');
        const { redirect_uris: redirectUris, grant_types: grants, response_types: responses } = given.data;
        for (const uri of redirectUris) {
          const fault = faultOfRedirectUri(uri);
          if (fault !== null)
            return refuse(reply, 'invalid_redirect_uri', `A redirect URI is refused: ${fault}.`);
        }
        const isForCode =
          (grants?.includes('authorization_code') ?? true) && (responses?.includes('code') ?? true);
        if (!isForCode)
          return refuse(reply, 'invalid_client_metadata', 'Clients get codes, and nothing else.');
        const name = clientNameOf(given.data.client_name);
        const network = networkOf(arrival.client);
        const client = await services.oauth.register({
          name,
          redirectUris: [...new Set(redirectUris)],
          network,
        });
        return reply.code(201).send({
          client_id: client.id,
          client_id_issued_at: Math.floor(client.createdAt / 1_000),
          ...(name === null ? {} : { client_name: name }),
          redirect_uris: client.redirectUris,
          ...publicClient,
        });
      },
    );
  });
}

function parsed(body: unknown): unknown {
  try {
    return JSON.parse(String(body));
  } catch {
    return null;
  }
}

function refuse(reply: FastifyReply, error: string, description: string): FastifyReply {
  return reply.code(400).send({ error, error_description: description });
}
