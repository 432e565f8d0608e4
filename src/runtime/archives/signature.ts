/** Signature of an archive's record: it binds the archive's digest to one sandbox of this installation. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { SandhavenError } from '../../model/errors.ts';
import type { ArchiveRecord } from '../../model/sandbox.ts';

/** @param key Of the installation. Returns lower-case hex. */
export function signatureOf(key: Buffer, id: string, digest: string): string {
  return createHmac('sha256', key).update(`${id}\n${digest}`).digest('hex');
}

/** Throws `unavailable` when the record was not written by this installation for this sandbox. */
export function assertSigned(key: Buffer, id: string, record: ArchiveRecord): void {
  const given = Buffer.from(record.hmac, 'hex');
  const expected = Buffer.from(signatureOf(key, id, record.digest), 'hex');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw notItsArchive();
}

export function notItsArchive(): SandhavenError {
  return new SandhavenError('unavailable', 'The archive of the sandbox is damaged or not its own.', {
    hint: 'Nothing was changed. Ask the operator to bring back the archive from a backup.',
    retryable: false,
  });
}
