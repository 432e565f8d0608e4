/**
 * Requests to the identity provider: within a time and a size, without following a redirect. Libraries call it in place of
 * `fetch`.
 */
import { SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';

export interface BoundedRequest {
  method?: string;
  headers?: NonNullable<RequestInit['headers']>;
  body?: RequestInit['body'] | undefined;
  signal?: AbortSignal | null | undefined;
}

export type BoundedFetch = (url: string, request: BoundedRequest) => Promise<Response>;

/** Rejects with `unavailable` without an answer in time, and for one that is too large. */
export const boundedFetch: BoundedFetch = async (url, { method = 'GET', headers, body, signal }) => {
  const own = AbortSignal.timeout(limits.identity.requestMs);
  const within = signal ? AbortSignal.any([own, signal]) : own;
  try {
    const response = await fetch(url, {
      ...{ method, body: body ?? null, signal: within, redirect: 'manual' },
      ...(headers === undefined ? {} : { headers }),
    });
    const bytes = await read(response);
    const { status, headers: answered } = response;
    return new Response(bytes.length > 0 ? bytes : null, { status, headers: answered });
  } catch (error) {
    if (error instanceof SandhavenError) throw error;
    throw silent(error);
  }
};

async function read({ body }: Response): Promise<Buffer<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  // An early end of the loop cancels the body, and its connection with it.
  for await (const piece of body ?? []) {
    size += piece.length;
    if (size > limits.identity.answerBytes) throw tooLarge();
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

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
