/**
 * Uploads a stream of unknown length: as one object when it fits into one part, else as a multipart upload, which the
 * server makes visible as a whole at its end. Memory is bounded: the source waits while parts are being sent.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../../model/limits.ts';
import type { S3Client, S3Object } from './client.ts';
import type { Body } from './exchange.ts';
import { isAbsent, S3Failure } from './failure.ts';

/**
 * Returns the length once the server shows the object with that length. A failure leaves no object, and no upload that
 * the server can be told to drop.
 */
export async function upload(
  client: S3Client,
  object: S3Object,
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<number> {
  const parts = partsOf(bytes, limits.archives.partBytes);
  try {
    const size = await send(client, object, parts, signal);
    const stored = await client.sizeOf(object, signal);
    if (stored === size) return size;
    throw new S3Failure('Short', 500, `S3 keeps ${stored} bytes of ${size}`);
  } catch (error) {
    await quietly(client.deleteObject(object, AbortSignal.timeout(limits.archives.removalMs)));
    throw error;
  } finally {
    await parts.return(undefined);
  }
}

/** Between two attempts to drop an upload. */
const DROP_PAUSE_MS = 50;

type Parts = AsyncGenerator<{ body: Body; last: boolean }>;

async function send(client: S3Client, object: S3Object, parts: Parts, signal: AbortSignal): Promise<number> {
  const first = await parts.next();
  if (first.done) return 0;
  const { body, last } = first.value;
  if (last) {
    await client.putObject(object, body, signal);
    return body.sizeBytes;
  }
  return sendInParts(client, object, body, parts, signal);
}

async function sendInParts(
  client: S3Client,
  object: S3Object,
  first: Body,
  rest: Parts,
  signal: AbortSignal,
): Promise<number> {
  // Not canceled on the way: the server would keep an upload whose id nobody knows.
  const bound = AbortSignal.timeout(limits.archives.removalMs);
  const uploadId = await client.createMultipartUpload(object, bound);
  const failing = new AbortController();
  const either = AbortSignal.any([signal, failing.signal]);
  const sending = new Set<Promise<void>>();
  const etags: string[] = [];
  let size = 0;

  const begin = (body: Body, number: number): void => {
    if (number > limits.archives.parts)
      throw new S3Failure('EntityTooLarge', 400, 'the archive is too large for S3');
    size += body.sizeBytes;
    const sent = client.uploadPart(object, uploadId, number, body, either).then((etag) => {
      etags[number - 1] = etag;
      sending.delete(sent);
    });
    // A failure is seen by the race below, or at the end.
    sent.catch(() => {});
    sending.add(sent);
  };

  try {
    signal.throwIfAborted();
    begin(first, 1);
    let number = 1;
    for await (const { body } of rest) {
      either.throwIfAborted();
      while (sending.size >= limits.archives.partsAtOnce) await Promise.race(sending);
      begin(body, ++number);
    }
    await Promise.all(sending);
    await complete(client, object, uploadId, etags, signal);
    return size;
  } catch (error) {
    failing.abort();
    // A part that arrives later would stay: S3 keeps parts that were on their way when the upload was dropped.
    await Promise.allSettled(sending);
    await quietly(drop(client, object, uploadId));
    throw error;
  }
}

/** An upload that is gone may have been completed by an attempt whose answer was lost; the object's length shows it. */
async function complete(
  client: S3Client,
  object: S3Object,
  uploadId: string,
  etags: string[],
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.completeMultipartUpload(object, uploadId, etags, signal);
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}

/**
 * Drops the upload until the server does not know it: a part whose request was broken off may still be on its way through
 * the server, and bring the upload back.
 */
async function drop(client: S3Client, object: S3Object, uploadId: string): Promise<void> {
  const bound = AbortSignal.timeout(limits.archives.removalMs);
  for (let absent = 0; absent < 2; ) {
    absent = (await client.abortMultipartUpload(object, uploadId, bound)) ? 0 : absent + 1;
    await sleep(DROP_PAUSE_MS, undefined, { signal: bound });
  }
}

/** The failure that led here counts; what is left is collected later. */
async function quietly(work: Promise<unknown>): Promise<void> {
  await work.catch(() => {});
}

/**
 * Cuts a stream into parts of one size and a last one, hashed as they fill, without a copy. An empty stream gives one empty
 * part.
 */
export async function* partsOf(
  bytes: AsyncIterable<Uint8Array>,
  partBytes: number,
): AsyncGenerator<{ body: Body; last: boolean }> {
  let filling = emptyPart();
  for await (const piece of bytes) {
    let rest = piece;
    while (rest.byteLength > 0) {
      // A full part is held back until more comes: it may be the last one.
      if (filling.sizeBytes === partBytes) {
        yield { body: filling.end(), last: false };
        filling = emptyPart();
      }
      const taken = rest.subarray(0, partBytes - filling.sizeBytes);
      filling.add(taken);
      rest = rest.subarray(taken.byteLength);
    }
  }
  yield { body: filling.end(), last: true };
}

function emptyPart() {
  const hash = createHash('sha256');
  const pieces: Uint8Array[] = [];
  return {
    sizeBytes: 0,
    add(piece: Uint8Array) {
      hash.update(piece);
      pieces.push(piece);
      this.sizeBytes += piece.byteLength;
    },
    end(): Body {
      return { pieces, sizeBytes: this.sizeBytes, sha256: hash.digest('hex') };
    },
  };
}
