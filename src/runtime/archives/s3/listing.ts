/** Listings of a bucket, page by page. */
import type { S3Client } from './client.ts';
import { S3Failure } from './failure.ts';
import { elementsOf, textOf } from './xml.ts';

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
