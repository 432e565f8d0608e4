/**
 * One signed request to an S3 server, and the beginning of its answer. Redirects are not followed: a signature is for
 * one host.
 *
 * Every body is signed with its SHA-256 (x-amz-content-sha256), so a server refuses a body that was damaged on the way.
 */
import { createHash } from 'node:crypto';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';
import { AwsV4Signer } from 'aws4fetch';
import type { S3Credentials, S3Options } from '../../../model/archive-options.ts';
import { limits } from '../../../model/limits.ts';
import { operatorNames } from '../../../outbound/operator-names.ts';
import { S3Failure, textOf } from './failure.ts';

export interface Body {
  pieces: Uint8Array[];
  sizeBytes: number;
  /** Lower-case hex. */
  sha256: string;
}

interface S3Target {
  bucket: string;
  /** Absent for the bucket itself. Of [A-Za-z0-9._/-], so that its encoding is itself. */
  key?: string;
  query?: Record<string, string>;
}

export interface S3Request extends S3Target {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'HEAD';
  headers?: Record<string, string>;
  body?: Body;
  signal?: AbortSignal | undefined;
  /** Bound of the request with its whole answer. */
  timeoutMs: number;
}

export interface Exchange {
  /** Resolves with a successful answer, whose body is yet to be read; rejects with S3Failure, or as aborted. */
  send(request: S3Request): Promise<IncomingMessage>;
  close(): void;
}

export function createExchange(
  options: Pick<S3Options, 'endpoint' | 'pathStyle' | 'region'>,
  credentials: S3Credentials,
): Exchange {
  const module = options.endpoint.startsWith('https:') ? https : http;
  const agent = new module.Agent({ keepAlive: true, lookup: operatorNames.lookup });

  async function signed(request: S3Request, url: URL): Promise<Record<string, string>> {
    const { method, body, headers } = request;
    const signer = new AwsV4Signer({
      ...credentials,
      method,
      url: url.href,
      headers: { ...headers, 'x-amz-content-sha256': body?.sha256 ?? EMPTY_SHA256 },
      service: 's3',
      region: options.region,
    });
    const { headers: all } = await signer.sign();
    return { ...Object.fromEntries(all), 'content-length': String(body?.sizeBytes ?? 0) };
  }

  async function send(request: S3Request): Promise<IncomingMessage> {
    const { method, body, signal, timeoutMs } = request;
    signal?.throwIfAborted();
    const url = urlOf(options, request);
    const headers = await signed(request, url);
    const bound = AbortSignal.timeout(timeoutMs);
    const either = signal ? AbortSignal.any([signal, bound]) : bound;
    try {
      const answer = await begun(module.request(url, { method, headers, agent, signal: either }), body);
      const status = answer.statusCode ?? 0;
      if (status >= 200 && status < 300) return answer;
      throw refusal(method, status, await readText(answer));
    } catch (error) {
      signal?.throwIfAborted();
      throw asFailure(error, bound.aborted);
    }
  }

  return { send, close: () => agent.destroy() };
}

/** Reads a whole answer that is no archive; rejects with S3Failure when it is too long or breaks off. */
export async function readText(answer: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of answer as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > limits.archives.answerBytes)
        throw new S3Failure('Strange', null, 'S3 answers at too great length');
      pieces.push(piece);
    }
  } catch (error) {
    throw asFailure(error, false);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** Maps a failure of the connection; leaves an S3Failure. */
export function asFailure(error: unknown, late: boolean): S3Failure {
  if (error instanceof S3Failure) return error;
  if (late) return new S3Failure('Slow', null, 'S3 took too long', error);
  const code = (error as NodeJS.ErrnoException | null)?.code ?? 'unknown';
  return new S3Failure('Unreachable', null, `the connection to S3 failed: ${code}`, error);
}

const EMPTY_SHA256 = createHash('sha256').digest('hex');

function begun(request: http.ClientRequest, body: Body | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('error', reject);
    request.once('response', resolve);
    request.setTimeout(limits.archives.idleMs, () => {
      request.destroy(new S3Failure('Silent', null, 'S3 is silent'));
    });
    if (body) Readable.from(body.pieces).pipe(request);
    else request.end();
  });
}

function refusal(method: string, status: number, text: string): S3Failure {
  const given = textOf(text, 'Code') ?? '';
  const usual =
    status >= 300 && status < 400 ? 'Redirected' : status === 403 ? 'AccessDenied' : `HTTP ${status}`;
  const code = /^[A-Za-z0-9.]{1,64}$/.test(given) ? given : usual;
  return new S3Failure(code, status, `S3 answered ${status} ${code} to ${method}`);
}

/** In both styles. Source: Amazon S3 User Guide, "Virtual hosting of buckets". */
export function urlOf(
  { endpoint, pathStyle }: Pick<S3Options, 'endpoint' | 'pathStyle'>,
  { bucket, key = '', query = {} }: S3Target,
): URL {
  const url = new URL(endpoint);
  if (pathStyle) {
    url.pathname = `/${bucket}/${key}`;
  } else {
    url.hostname = `${bucket}.${url.hostname}`;
    url.pathname = `/${key}`;
  }
  // Signatures cover the query in its percent encoding, which knows no plus for a space.
  url.search = Object.entries(query)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&');
  return url;
}
