/**
 * Authenticates the caller by the key in the headers, and by nothing else, so that no request is authorized
 * because a browser sent it.
 */
import type { FastifyRequest } from 'fastify';
import type { Services } from '../../control/services.ts';
import { SandhavenError } from '../../model/errors.ts';
import type { Caller } from '../../model/user.ts';

/** Rejects with `unauthenticated`. */
export async function authenticate(
  identity: Pick<Services['identity'], 'authenticate'>,
  request: FastifyRequest,
): Promise<Caller> {
  const key = keyOf(request.headers.authorization, request.headers['x-api-key']);
  if (key === null) {
    throw new SandhavenError('unauthenticated', 'The request has no API key.', {
      hint: 'Send `Authorization: Bearer <API_KEY>`.',
    });
  }
  const user = await identity.authenticate(key);
  if (user) return user;
  throw new SandhavenError('unauthenticated', 'The API key is not valid.', {
    hint: 'Check SANDBOX_API_KEY; the key of a new service is in the file api-key of its data directory.',
  });
}

function keyOf(authorization: string | undefined, apiKey: string | string[] | undefined): string | null {
  const bearer = authorization === undefined ? null : /^bearer +(\S+) *$/i.exec(authorization);
  if (bearer?.[1]) return bearer[1];
  return typeof apiKey === 'string' && apiKey !== '' ? apiKey : null;
}
