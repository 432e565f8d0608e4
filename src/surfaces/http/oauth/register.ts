/**
 * Registers clients that nobody has announced, as MCP's clients do at their first contact. A client is public: it gets an
 * id and no secret. Whatever else it says of itself is left out.
 *
 * Source: RFC 7591.
 */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Services } from '../../../control/services.ts';
import { clientNameOf, faultOfRedirectUri } from '../../../model/access/oauth.ts';
import { limits } from '../../../model/limits.ts';
import { networkOf } from '../../../model/network/arrival.ts';
import { NetworkRate } from '../sign-in/network-rate.ts';
import { unknownOrigin } from './issuers.ts';
import { oauthPaths, publicClient } from './metadata.ts';

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
