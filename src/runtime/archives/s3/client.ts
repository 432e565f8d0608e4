/**
 * The operations of S3 that archives need, each repeated while its failure may pass. Source: Amazon S3 API Reference,
 * by the names of the operations.
 */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../../model/limits.ts';
import { type Body, type Exchange, readText, type S3Request } from './exchange.ts';
import { encode, isAbsent, S3Failure, textOf } from './failure.ts';

export interface S3Object {
  bucket: string;
  key: string;
}

type Signal = AbortSignal | undefined;

export interface S3Client {
  putObject(object: S3Object, body: Body, signal: Signal): Promise<void>;
  /** Returns the upload's id. */
  createMultipartUpload(object: S3Object, signal: Signal): Promise<string>;
  /** Returns the part's ETag. */
  uploadPart(object: S3Object, uploadId: string, number: number, body: Body, signal: Signal): Promise<string>;
  /** @param etags Of all parts, in order. */
  completeMultipartUpload(object: S3Object, uploadId: string, etags: string[], signal: Signal): Promise<void>;
  /** Returns false for a missing upload. */
  abortMultipartUpload(object: S3Object, uploadId: string, signal: Signal): Promise<boolean>;
  /** Returns the object's length; null when it is missing. */
  sizeOf(object: S3Object, signal: Signal): Promise<number | null>;
  /** One attempt, since its body is read by the caller. */
  getObject(object: S3Object, headers: Record<string, string>, signal: Signal): Promise<IncomingMessage>;
  /** A missing object is no error. */
  deleteObject(object: S3Object, signal: Signal): Promise<void>;
  /** Returns one page of a listing of the bucket, as XML, with the server's time in ms since the epoch. */
  list(bucket: string, query: Record<string, string>, signal: Signal): Promise<{ xml: string; now: number }>;
}

export function createS3Client(exchange: Exchange): S3Client {
  const timeoutMs = limits.archives.requestMs;

  /** Sends, and reads the answer to its end, so that the connection can serve again. */
  function call(request: Omit<S3Request, 'timeoutMs'>): Promise<{ text: string; answer: IncomingMessage }> {
    return retrying(async () => {
      const answer = await exchange.send({ ...request, timeoutMs });
      return { text: await readText(answer), answer };
    }, request.signal);
  }

  return {
    async putObject(object, body, signal) {
      await call({ method: 'PUT', ...object, body, signal });
    },

    async createMultipartUpload(object, signal) {
      const { text } = await call({ method: 'POST', ...object, query: { uploads: '' }, signal });
      return required(textOf(text, 'UploadId'), 'an upload without its id');
    },

    async uploadPart(object, uploadId, number, body, signal) {
      const query = { partNumber: String(number), uploadId };
      const { answer } = await call({ method: 'PUT', ...object, query, body, signal });
      return required(answer.headers.etag ?? null, 'a part without its ETag');
    },

    async completeMultipartUpload(object, uploadId, etags, signal) {
      const body = textBody(completion(etags));
      await retrying(async () => {
        const request = { method: 'POST', ...object, query: { uploadId }, body, signal, timeoutMs } as const;
        const text = await readText(await exchange.send(request));
        // The server answers before it has finished, so a failure may come with status 200.
        if (!/<Error>/.test(text)) return;
        const code = textOf(text, 'Code') ?? 'InternalError';
        throw new S3Failure(code, 500, `S3 answered ${code} to the end of an upload`);
      }, signal);
    },

    abortMultipartUpload: (object, uploadId, signal) =>
      unlessAbsent(call({ method: 'DELETE', ...object, query: { uploadId }, signal })),

    async sizeOf(object, signal) {
      try {
        const { answer } = await call({ method: 'HEAD', ...object, signal });
        return lengthOf(answer);
      } catch (error) {
        if (isAbsent(error)) return null;
        throw error;
      }
    },

    getObject: (object, headers, signal) =>
      exchange.send({ method: 'GET', ...object, headers, signal, timeoutMs: limits.archives.transferMs }),

    async deleteObject(object, signal) {
      await unlessAbsent(call({ method: 'DELETE', ...object, signal }));
    },

    async list(bucket, query, signal) {
      const { text, answer } = await call({ method: 'GET', bucket, query, signal });
      const now = Date.parse(answer.headers.date ?? '');
      return { xml: text, now: Number.isNaN(now) ? Date.now() : now };
    },
  };
}

export function lengthOf(answer: IncomingMessage): number {
  const text = required(answer.headers['content-length'] ?? null, 'an object without its length');
  return Number(text);
}

function completion(etags: string[]): string {
  const parts = etags.map(
    (etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${encode(etag)}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
}

export function textBody(text: string): Body {
  const bytes = Buffer.from(text);
  return {
    pieces: [bytes],
    sizeBytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  };
}

/** Returns false where there was nothing. */
async function unlessAbsent(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (!isAbsent(error)) throw error;
    return false;
  }
}

function required(text: string | null, what: string): string {
  if (text !== null && text !== '') return text;
  throw new S3Failure('Strange', null, `S3 answered ${what}`);
}

/**
 * Repeats a request after pauses that double, with a random part so that callers spread.
 * @param attempt Called with the number of the attempt, from 1.
 */
export async function retrying<T>(attempt: (number: number) => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let number = 1; ; number++) {
    try {
      return await attempt(number);
    } catch (error) {
      signal?.throwIfAborted();
      if (!mayPass(error) || number >= limits.archives.attempts) throw error;
      await pauseAfter(number, signal);
    }
  }
}

export function mayPass(error: unknown): boolean {
  return error instanceof S3Failure && error.passing;
}

/** Rejects with the signal's reason when it is aborted. */
export async function pauseAfter(failures: number, signal?: AbortSignal): Promise<void> {
  const { retryDelayMs, retryDelayMaxMs } = limits.archives;
  const longest = Math.min(retryDelayMs * 2 ** (failures - 1), retryDelayMaxMs);
  try {
    await sleep(longest * (0.5 + Math.random() / 2), undefined, signal ? { signal } : {});
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
