/**
 * Requests to the identity provider: within a time and a size, without following a redirect. Libraries call it in place of
 * `fetch`.
 */
import { SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { exchange, toOperators } from '../outbound/request.ts';

export interface BoundedRequest {
  method?: string;
  headers?: NonNullable<RequestInit['headers']>;
  body?: RequestInit['body'] | undefined;
  signal?: AbortSignal | null | undefined;
}

export type BoundedFetch = (url: string, request: BoundedRequest) => Promise<Response>;

const bound = { bytes: limits.identity.answerBytes, tooLong: tooLarge };

/** Rejects with `unavailable` without an answer in time, and for one that is too large. */
export const boundedFetch: BoundedFetch = async (url, { method = 'GET', headers, body, signal }) => {
  const own = AbortSignal.timeout(limits.identity.requestMs);
  const within = signal ? AbortSignal.any([own, signal]) : own;
  try {
    // Turns the kinds of bodies that a library may give into bytes, with their type where it names none.
    const given = new Response(body ?? null, { headers: headers ?? {} });
    const bytes = body ? Buffer.from(await given.arrayBuffer()) : null;
    const request = { method, headers: Object.fromEntries(given.headers), body: bytes, signal: within };
    return await exchange(new URL(url), { way: toOperators, ...request }, bound);
  } catch (error) {
    if (error instanceof SandhavenError) throw error;
    throw silent(error);
  }
};

function silent(cause: unknown): SandhavenError {
  return new SandhavenError(
    'unavailable',
    'The identity provider does not answer.',
    { hint: 'Try again in a minute. Keys and one-time links work meanwhile.' },
    cause,
  );
}

function tooLarge(): SandhavenError {
  return new SandhavenError('unavailable', 'The answer of the identity provider is too large.', {
    hint: 'The operator checks --oidc-issuer. Keys and one-time links work meanwhile.',
  });
}
