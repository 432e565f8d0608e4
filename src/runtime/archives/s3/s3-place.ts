/**
 * Archives as objects: <prefix>/<instance>/<sandbox id>/<16 random characters>.tar.zst.
 *
 * Invariant: every archive has a key of its own, so a removal that comes late never takes a newer one. Nothing outside
 * this instance's part of the bucket is listed.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { abortable } from '../../../concurrency/deadline.ts';
import { createSemaphore } from '../../../concurrency/in-portions.ts';
import type { S3Folder } from '../../../model/archive-options.ts';
import { randomText, sandboxIdPattern } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import type { ArchiveLocation } from '../../../model/sandbox.ts';
import type { ArchivePlace, StoredArchive, StoredBytes, TransferOptions } from '../places.ts';
import { lengthOf, mayPass, pauseAfter, retrying, type S3Client, type S3Object } from './client.ts';
import { asFailure } from './exchange.ts';
import { elementsOf, isAbsent, S3Failure, textOf, toCallerError } from './failure.ts';
import { upload } from './upload.ts';

export interface S3PlaceOptions {
  client: S3Client;
  /** null: existing archives can be read and removed, no new ones written. */
  folder: S3Folder | null;
  /** Own part of the bucket, of [a-z0-9-]. */
  instance: string;
  close(): void;
}

export function createS3Place({ client, folder, instance, close }: S3PlaceOptions): ArchivePlace {
  const uploads = createSemaphore(limits.archives.uploadsAtOnce);
  const downloads = createSemaphore(limits.archives.downloadsAtOnce);
  const root = folder && [folder.prefix, instance, ''].filter((part, at) => at > 0 || part !== '').join('/');

  const bounded = (signal: AbortSignal | undefined, ms: number): AbortSignal =>
    signal ? AbortSignal.any([signal, AbortSignal.timeout(ms)]) : AbortSignal.timeout(ms);

  const put = (
    location: ArchiveLocation,
    source: (signal: AbortSignal) => AsyncIterable<Uint8Array>,
    { signal }: TransferOptions,
  ): Promise<number> =>
    forCallers(
      uploads.run(async () => {
        const either = bounded(signal, limits.archives.transferMs);
        return upload(client, objectOf(location), source(either), either);
      }, signal),
    );

  const get: ArchivePlace['get'] = async (_id, location, { signal } = {}) => {
    const either = bounded(signal, limits.archives.transferMs);
    const stored = await forCallers(download(client, objectOf(location), either));
    return stored && { sizeBytes: stored.sizeBytes, bytes: streamForCallers(stored.bytes) };
  };

  return {
    locate(id) {
      if (folder === null) throw new Error('no bucket takes new archives');
      return { store: 's3', bucket: folder.bucket, key: `${root}${id}/${randomText(16)}${SUFFIX}` };
    },

    put: (_id, location, bytes, options = {}) => put(location, (signal) => abortable(bytes, signal), options),

    async putFile(_id, location, file, options = {}) {
      const size = await put(location, (signal) => createReadStream(file, { ...READ, signal }), options);
      await rm(file);
      return size;
    },

    get,

    getFile: (id, location, spool, options = {}) =>
      downloads.run(async () => {
        const stored = await get(id, location, options);
        if (stored === null) return null;
        try {
          await pipeline(stored.bytes, createWriteStream(spool, { mode: 0o600 }));
        } catch (error) {
          await rm(spool, { force: true });
          throw error;
        }
        return spool;
      }, options.signal),

    async remove(_id, location, { signal } = {}) {
      const object = objectOf(location);
      const either = bounded(signal, limits.archives.removalMs);
      await forCallers(client.deleteObject(object, either));
    },

    async *list({ signal } = {}) {
      if (folder === null || root === null) return;
      for await (const listed of streamForCallers(listObjects(client, folder.bucket, root, signal))) {
        const id = sandboxOf(listed.key, root);
        if (id === null) continue;
        const location = { store: 's3', bucket: folder.bucket, key: listed.key } as const;
        yield { id, location, sizeBytes: listed.sizeBytes, ageMs: listed.ageMs } satisfies StoredArchive;
      }
    },

    async sweep(olderThanMs, { signal } = {}) {
      if (folder === null || root === null) return;
      const { bucket } = folder;
      const old: { key: string; uploadId: string }[] = [];
      for await (const begun of streamForCallers(listUploads(client, bucket, root, signal))) {
        if (begun.ageMs >= olderThanMs && sandboxOf(begun.key, root) !== null) old.push(begun);
      }
      for (const { key, uploadId } of old)
        await forCallers(client.abortMultipartUpload({ bucket, key }, uploadId, signal));
    },

    close,
  };
}

const SUFFIX = '.tar.zst';
/** Few and large reads: each is a turn of the thread pool. */
const READ = { highWaterMark: 512 * 1024 };

/** Returns the sandbox of a key that this instance wrote; null for every other key. */
function sandboxOf(key: string, root: string): string | null {
  const [id = '', name = '', ...more] = key.slice(root.length).split('/');
  const own = key.startsWith(root) && sandboxIdPattern.test(id) && more.length === 0;
  return own && /^[0-9a-z]{16}\.tar\.zst$/.test(name) ? id : null;
}

function objectOf(location: ArchiveLocation): S3Object {
  if (location.store === 's3') return location;
  throw new Error(`an archive in the store ${location.store} was asked of S3`);
}

async function forCallers<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw toCallerError(error);
  }
}

async function* streamForCallers<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (error) {
    throw toCallerError(error);
  }
}

// Downloads an object; a connection that breaks is replaced by one that goes on where it ended.

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

// Listings of a bucket, page by page.

export interface ListedObject {
  key: string;
  sizeBytes: number;
  /** Since it was written, by the server's clock. */
  ageMs: number;
}

export interface ListedUpload {
  key: string;
  uploadId: string;
  /** Since it began, by the server's clock. */
  ageMs: number;
}

export async function* listObjects(
  client: S3Client,
  bucket: string,
  prefix: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<ListedObject> {
  let token: string | null = null;
  do {
    const query = { 'list-type': '2', prefix, ...(token !== null && { 'continuation-token': token }) };
    const { xml, now }: { xml: string; now: number } = await client.list(bucket, query, signal);
    for (const entry of elementsOf(xml, 'Contents')) {
      const sizeBytes = Number(field(entry, 'Size'));
      yield { key: field(entry, 'Key'), sizeBytes, ageMs: now - timeOf(entry, 'LastModified') };
    }
    token = textOf(xml, 'IsTruncated') === 'true' ? field(xml, 'NextContinuationToken') : null;
  } while (token !== null);
}

/** Lists multipart uploads that were neither completed nor dropped. */
export async function* listUploads(
  client: S3Client,
  bucket: string,
  prefix: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<ListedUpload> {
  let after: Record<string, string> | null = {};
  do {
    const query = { uploads: '', prefix, ...after };
    const { xml, now }: { xml: string; now: number } = await client.list(bucket, query, signal);
    for (const entry of elementsOf(xml, 'Upload')) {
      const ageMs = now - timeOf(entry, 'Initiated');
      yield { key: field(entry, 'Key'), uploadId: field(entry, 'UploadId'), ageMs };
    }
    after = null;
    if (textOf(xml, 'IsTruncated') === 'true') {
      const uploadId = textOf(xml, 'NextUploadIdMarker') ?? '';
      after = { 'key-marker': field(xml, 'NextKeyMarker'), 'upload-id-marker': uploadId };
    }
  } while (after !== null);
}

function field(xml: string, name: string): string {
  const text = textOf(xml, name);
  if (text !== null) return text;
  throw new S3Failure('Strange', null, `S3 listed an entry without ${name}`);
}

function timeOf(xml: string, name: string): number {
  const time = Date.parse(field(xml, name));
  if (!Number.isNaN(time)) return time;
  throw new S3Failure('Strange', null, `S3 listed an entry with an invalid ${name}`);
}
