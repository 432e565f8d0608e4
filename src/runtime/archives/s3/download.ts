/** Downloads an object; a connection that breaks is replaced by one that goes on where it ended. */
import type { IncomingMessage } from 'node:http';
import { limits } from '../../../model/limits.ts';
import type { StoredBytes } from '../places.ts';
import { lengthOf, mayPass, pauseAfter, retrying, type S3Client, type S3Object } from './client.ts';
import { asFailure } from './exchange.ts';
import { isAbsent, S3Failure } from './failure.ts';

/** Returns null when the object is missing. The stream has exactly `sizeBytes`, or fails. */
export async function download(
  client: S3Client,
  object: S3Object,
  signal: AbortSignal,
): Promise<StoredBytes | null> {
  let first: IncomingMessage;
  try {
    first = await retrying(() => client.getObject(object, {}, signal), signal);
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
  const sizeBytes = lengthOf(first);
  return { sizeBytes, bytes: wholeOf(client, object, first, sizeBytes, signal) };
}

async function* wholeOf(
  client: S3Client,
  object: S3Object,
  first: IncomingMessage,
  sizeBytes: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  // Another object of this name would be another archive.
  const same = first.headers.etag === undefined ? {} : { 'if-match': first.headers.etag };
  let answer: IncomingMessage | null = first;
  let at = 0;
  for (let failures = 0; ; ) {
    try {
      answer ??= await client.getObject(object, { ...same, range: `bytes=${at}-` }, signal);
      if (at > 0 && answer.statusCode !== 206) throw new S3Failure('Strange', null, 'S3 does not resume');
      for await (const piece of answer as AsyncIterable<Buffer>) {
        at += piece.length;
        failures = 0;
        yield piece;
      }
      if (at === sizeBytes) return;
      throw new S3Failure(at < sizeBytes ? 'Short' : 'Strange', null, `S3 sent ${at} bytes of ${sizeBytes}`);
    } catch (error) {
      signal.throwIfAborted();
      const failure = asFailure(error, false);
      answer?.destroy();
      answer = null;
      if (!mayPass(failure) || ++failures >= limits.archives.attempts) throw failure;
      await pauseAfter(failures, signal);
    }
  }
}
