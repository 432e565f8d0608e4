/** Credentials as E2B's clients send them: a key in their form, and the token of one sandbox. */
import type { FastifyRequest } from 'fastify';
import { keyOfForm } from '../../../model/key-form.ts';

/** Header with the token of a sandbox, for its ports. */
export const TRAFFIC_HEADER = 'e2b-traffic-access-token';

export function keyIn({ headers }: FastifyRequest): string | null {
  const key = headers['x-api-key'];
  return typeof key === 'string' && key !== '' ? keyOfForm(key) : null;
}

/** The token says which sandbox it opens, and the request which it asks for: where these differ, there is none. */
export function tokenIn({ headers }: FastifyRequest): string | null {
  // Some calls of the code interpreter send the one for ports alone.
  const token = headers['x-access-token'] ?? headers[TRAFFIC_HEADER];
  return typeof token === 'string' && token !== '' ? token : null;
}

/** Returns true for a request of a file that brings a signature in place of the token. */
export function isSigned(request: FastifyRequest): boolean {
  return (
    typeof (request.query as Record<string, unknown>)['signature'] === 'string' && tokenIn(request) === null
  );
}

/** Returns the Linux user that the client names, without a password. */
export function userIn({ headers }: FastifyRequest): string | undefined {
  const [, encoded] = /^basic +([\w+/=-]+) *$/i.exec(headers.authorization ?? '') ?? [];
  const [name] = encoded === undefined ? [] : Buffer.from(encoded, 'base64').toString().split(':');
  return name === '' ? undefined : name;
}
