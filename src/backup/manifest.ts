/**
 * Manifest of a backup: its versions, and each file with its length and digest. The HMAC by the installation's secret
 * key makes a backup of strangers, and a changed one, known before tar or SQLite reads any of it.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { isEntryName, notABackup } from './entry.ts';

const FORMAT = 1;

const file = z.strictObject({
  name: z.string().max(200).refine(isEntryName),
  size_bytes: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

const leftOut = z.strictObject({ sandbox: z.string().max(64), reason: z.string().max(300) });

const content = z.strictObject({
  format: z.literal(FORMAT),
  service_version: z.string().max(50),
  schema_version: z.int().min(1),
  instance: z.string().regex(/^[0-9a-z]{6}$/),
  made_at: z.iso.datetime(),
  key_id: z.string().regex(/^[0-9a-f]{16}$/),
  files: z.array(file).max(limits.backups.files),
  left_out: z.array(leftOut).max(limits.backups.files),
});
const signed = content.extend({ hmac: z.string().regex(/^[0-9a-f]{64}$/) });
const versions = z.object({ format: z.int(), schema_version: z.int(), service_version: z.string().max(50) });

export type BackupFile = z.infer<typeof file>;
export type LeftOut = z.infer<typeof leftOut>;
export type Manifest = z.infer<typeof content>;

/** @param key Derived from the secret key. */
export function writeManifest(manifest: Omit<Manifest, 'format'>, key: Buffer): Buffer {
  const whole = content.parse({ format: FORMAT, ...manifest });
  return Buffer.from(`${JSON.stringify({ ...whole, hmac: hmacOf(whole, key).toString('hex') }, null, 1)}\n`);
}

/** @param newestSchema That this service knows. Throws `failed_precondition`. */
export function readManifest(bytes: Buffer, newestSchema: number): { manifest: Manifest; hmac: string } {
  const json = jsonOf(bytes);
  const known = versions.safeParse(json);
  if (!known.success) throw notABackup('its manifest cannot be read.');
  const { format, schema_version: schema, service_version: service } = known.data;
  if (format > FORMAT || schema > newestSchema) {
    throw new SandhavenError(
      'failed_precondition',
      `The backup is of a newer service (${service}, format ${format}, schema ${schema}); this one knows format ${FORMAT} and schemas up to ${newestSchema}.`,
      { hint: 'Nothing was restored. Restore it with a service of that version or a later one.' },
    );
  }
  const parsed = signed.safeParse(json);
  if (!parsed.success) throw notABackup('its manifest cannot be read.');
  const { hmac, ...manifest } = parsed.data;
  if (new Set(manifest.files.map(({ name }) => name)).size < manifest.files.length)
    throw notABackup('its manifest names a file twice.');
  return { manifest, hmac };
}

/** Throws `failed_precondition` unless the holder of this key wrote the manifest. */
export function assertOwn(
  { manifest, hmac }: { manifest: Manifest; hmac: string },
  secrets: { keyId: string; deriveKey(purpose: string): Buffer },
): void {
  if (manifest.key_id !== secrets.keyId) {
    throw new SandhavenError('failed_precondition', 'The secret key is not the one of this backup.', {
      hint: 'Nothing was restored. Give the secret.key of the old data directory with --key-file.',
    });
  }
  if (timingSafeEqual(hmacOf(manifest, backupKey(secrets)), Buffer.from(hmac, 'hex'))) return;
  throw notABackup('its manifest was changed, or was written by somebody else.');
}

export function backupKey(secrets: { deriveKey(purpose: string): Buffer }): Buffer {
  return secrets.deriveKey('backup manifest');
}

/** Parsing gives the fields the order of the schema, so that one manifest has one text. */
function hmacOf(manifest: Manifest, key: Buffer): Buffer {
  return createHmac('sha256', key)
    .update(JSON.stringify(content.parse(manifest)))
    .digest();
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return null;
  }
}
