/** Sends requests of the page that are no tools: with the header that a cookie counts with, and with typed errors. */
import { type Problem, SandhavenError } from '@sandhaven/sdk';
import { fetchOrTakeEarly } from './early-answers.ts';

/** Another site's page cannot send it, so the service takes a cookie only beside it. */
export const pageHeaders = { 'x-sandhaven-request': '1' };

export async function request<Result>(
  method: string,
  path: string,
  body?: object,
  headers: Readonly<Record<string, string>> = pageHeaders,
): Promise<Result> {
  const response = await fetchOrTakeEarly(path, {
    method,
    credentials: 'same-origin',
    headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  }).catch((cause: unknown) => {
    throw new SandhavenError(
      {
        code: 'unavailable',
        status: 0,
        detail: 'The service gave no answer.',
        hint: 'Check that it runs and that this device is connected.',
        retryable: true,
      },
      cause,
    );
  });
  if (response.status === 204) return undefined as Result;
  const answer: unknown = await response.json().catch(() => null);
  if (response.ok && answer !== null) return answer as Result;
  throw new SandhavenError(problemOf(response.status, answer));
}

function problemOf(status: number, answer: unknown): Problem {
  const { code, detail } = (answer ?? {}) as Partial<Problem>;
  if (typeof code === 'string' && typeof detail === 'string') return answer as Problem;
  return {
    code: status === 404 ? 'not_found' : status >= 500 ? 'unavailable' : 'internal',
    status,
    detail: `Something other than the service answered, with status ${status}.`,
    hint: 'Check the proxy on the way to the service.',
    retryable: status >= 500,
  };
}
