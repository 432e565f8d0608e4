/** Opens the operator's S3 server as a place for archives, and proves its bucket. */
import type { ArchiveOptions, S3Credentials, S3Options } from '../../../model/archive-options.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { randomText } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import { readSecretFile } from '../../../outbound/secret-file.ts';
import type { RemotePlace } from '../places.ts';
import { createS3Client, type S3Client, textBody } from './client.ts';
import { createExchange, readText } from './exchange.ts';
import { reasonOf, S3Failure } from './failure.ts';
import { createS3Place } from './s3-place.ts';

/**
 * Proves the bucket for new archives, if there is one. Rejects with `failed_precondition`, and the next step for the
 * operator. @param instance Own part of the bucket.
 */
export async function openS3(
  { s3, folder }: Pick<ArchiveOptions, 'folder'> & { s3: S3Options },
  instance: string,
): Promise<RemotePlace> {
  const exchange = createExchange(s3, credentialsOf(s3));
  const client = createS3Client(exchange);
  try {
    if (folder !== null)
      await prove(client, folder.bucket, [folder.prefix, instance].filter(Boolean).join('/'));
  } catch (error) {
    exchange.close();
    throw unusable(error);
  }
  const place = createS3Place({ client, folder, instance, close: exchange.close });
  return { place, chosen: folder !== null };
}

/** Puts, gets and removes a small object, and asks for the two listings. */
async function prove(client: S3Client, bucket: string, folder: string): Promise<void> {
  const signal = AbortSignal.timeout(limits.archives.proofMs);
  const object = { bucket, key: `${folder}/proof-${randomText(16)}` };
  const text = randomText(32);
  await client.putObject(object, textBody(text), signal);
  try {
    const found = await readText(await client.getObject(object, {}, signal));
    if (found !== text) throw new S3Failure('Strange', null, 'S3 returned other bytes than it was given');
    await client.list(bucket, { 'list-type': '2', prefix: object.key }, signal);
    await client.list(bucket, { uploads: '', prefix: object.key }, signal);
  } finally {
    await client.deleteObject(object, signal);
  }
}

function unusable(error: unknown): unknown {
  const late = error instanceof DOMException;
  if (!late && !(error instanceof S3Failure)) return error;
  const { reason, hint } = reasonOf(late ? new S3Failure('Slow', null, 'S3 took too long') : error);
  return new SandhavenError(
    'failed_precondition',
    `The archive store cannot be used: ${reason}.`,
    { parameter: '--archive-store', hint },
    error,
  );
}

const FLAG = '--s3-credentials-file';

/**
 * Reads a file in the form that Amazon's programs share: INI, with the profile "default". Source: AWS SDKs and Tools Reference
 * Guide, "Shared config and credentials files". Throws `failed_precondition` for a file that is unreadable, readable by others,
 * or without credentials.
 */
export function credentialsOf({ credentials }: Pick<S3Options, 'credentials'>): S3Credentials {
  if (!('file' in credentials)) return credentials;
  const { file } = credentials;
  const values = profileOf(readSecretFile(FLAG, file));
  const [accessKeyId, secretAccessKey, sessionToken] = [
    values.get('aws_access_key_id'),
    values.get('aws_secret_access_key'),
    values.get('aws_session_token'),
  ];
  if (accessKeyId && secretAccessKey) {
    return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
  }
  throw refused(
    `The file of ${FLAG} has no credentials.`,
    `Write aws_access_key_id = … and aws_secret_access_key = … into ${file}, each on a line.`,
  );
}

/** Values of the profile "default", or of a file without profiles. */
function profileOf(text: string): Map<string, string> {
  const values = new Map<string, string>();
  let profile = 'default';
  for (const line of text.split('\n')) {
    const header = /^\s*\[\s*([^\]]*?)\s*\]\s*$/.exec(line);
    if (header) profile = header[1] ?? '';
    const [, name = '', value = ''] = /^\s*([a-z_]+)\s*=\s*(\S+)\s*$/i.exec(line) ?? [];
    if (profile === 'default' && name !== '') values.set(name.toLowerCase(), value);
  }
  return values;
}

function refused(detail: string, hint: string): SandhavenError {
  return new SandhavenError('failed_precondition', detail, { parameter: FLAG, hint });
}
