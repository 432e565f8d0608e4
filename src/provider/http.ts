/**
 * One request to the provider. The operator chooses its target and no redirect changes it; the answer is read up to a
 * bound and within a timeout, and none of its text is passed on.
 */
import { SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { exchange, toOperators } from '../outbound/request.ts';

export interface Ask {
  method: 'GET' | 'POST' | 'DELETE';
  url: string;
  /** Value of the `Authorization` header. */
  authorization?: string;
  form?: Record<string, string>;
  json?: unknown;
}

export interface Reply {
  status: number;
  headers: Headers;
  /** undefined when it is not JSON. */
  body: unknown;
}

const API_VERSION = '2022-11-28';

/** Fails with `unavailable` or `timeout` without an answer, and with `unavailable` when the provider is overloaded. */
export async function ask({ method, url, authorization, form, json }: Ask): Promise<Reply> {
  const { host } = new URL(url);
  const headers: Record<string, string> = {
    accept: 'application/json',
    'user-agent': 'sandhaven',
    'x-github-api-version': API_VERSION,
    ...(authorization === undefined ? {} : { authorization }),
    ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    ...(form ? { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' } : {}),
  };
  const body = form ? new URLSearchParams(form).toString() : json === undefined ? null : JSON.stringify(json);
  const signal = AbortSignal.timeout(limits.provider.requestMs);
  try {
    const tooLong = () => tooLarge(host);
    const bound = { bytes: limits.provider.answerBytes, tooLong };
    const response = await exchange(new URL(url), { way: toOperators, method, headers, body, signal }, bound);
    const reply = { status: response.status, headers: response.headers, body: await read(response) };
    if (isOverloaded(reply)) throw tooBusy(host, reply.status);
    return reply;
  } catch (error) {
    if (error instanceof SandhavenError) throw error;
    throw signal.aborted ? silent(host) : unreachable(host, error);
  }
}

/** Error of an answer without the documented shape. */
export function notAsDocumented(url: string, { status }: Reply): SandhavenError {
  const { host } = new URL(url);
  return new SandhavenError('unavailable', `${host} sent an unexpected answer (status ${status}).`, {
    hint: "The operator of the service can check the provider's URLs: --github-url and --github-api-url.",
    retryable: false,
  });
}

async function read(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return undefined;
  }
}

function isOverloaded({ status, headers }: Reply): boolean {
  if (status >= 500 || status === 429) return true;
  return status === 403 && (headers.get('x-ratelimit-remaining') === '0' || headers.has('retry-after'));
}

function tooLarge(host: string): SandhavenError {
  return new SandhavenError('unavailable', `The answer of ${host} is too large.`, {
    retryable: false,
    hint: "The operator of the service can check the provider's URLs.",
  });
}

function tooBusy(host: string, status: number): SandhavenError {
  return new SandhavenError('unavailable', `${host} answers with status ${status}.`, {
    hint: 'Try again later.',
  });
}

function silent(host: string): SandhavenError {
  const seconds = limits.provider.requestMs / 1_000;
  return new SandhavenError('timeout', `${host} did not answer within ${seconds} seconds.`, {
    hint: 'Try again later.',
    retryable: true,
  });
}

function unreachable(host: string, error: unknown): SandhavenError {
  return new SandhavenError(
    'unavailable',
    `The service cannot reach ${host}.`,
    { hint: 'Try again later.' },
    error,
  );
}
