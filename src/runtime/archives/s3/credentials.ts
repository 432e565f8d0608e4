/**
 * Credentials in a file of the form that Amazon's programs share: INI, with the profile "default". Source: AWS SDKs and
 * Tools Reference Guide, "Shared config and credentials files".
 */
import { readFileSync, statSync } from 'node:fs';
import type { S3Credentials, S3Options } from '../../../model/archive-options.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';

const FLAG = '--s3-credentials-file';

/** Rejects a file that is unreadable, readable by others, or without credentials with `failed_precondition`. */
export function credentialsOf({ credentials }: Pick<S3Options, 'credentials'>): S3Credentials {
  if (!('file' in credentials)) return credentials;
  const { file } = credentials;
  const values = profileOf(readPrivate(file));
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

function readPrivate(file: string): string {
  try {
    const { mode, size } = statSync(file);
    if (size > limits.archives.credentialsFileBytes) throw new Error('it is too large');
    if ((mode & 0o077) === 0) return readFileSync(file, 'utf8');
  } catch (error) {
    throw refused(`The file of ${FLAG} cannot be read.`, `Check ${file}.`, error);
  }
  throw refused(`The file of ${FLAG} can be read by other users.`, `Run: chmod 600 ${file}`);
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

function refused(detail: string, hint: string, cause?: unknown): SandhavenError {
  return new SandhavenError('failed_precondition', detail, { parameter: FLAG, hint }, cause);
}
