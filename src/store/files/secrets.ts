/**
 * Secrets at rest. A box is AES-256-GCM with its place as associated data, so a box moved to another row or column
 * does not open. The database without the key reveals no secret.
 */
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { SandhavenError } from '../../model/errors.ts';
import { readIfThere, readOrCreate } from './durable-file.ts';

/** Cell of the database that holds a box. */
export interface Place {
  table: string;
  row: string;
  column: string;
}

export interface Secrets {
  /** Identifies the key without revealing any of it; 16 hexadecimal digits. */
  readonly keyId: string;
  seal(plaintext: string, place: Place): Buffer;
  /** Throws unless the box is unchanged and was sealed with this key for this place. */
  open(box: unknown, place: Place): string;
  /** Returns 32 bytes, always the same for one purpose, that reveal nothing of other keys. */
  deriveKey(purpose: string): Buffer;
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_BYTES = 8;
const FORMAT = 1;
const NONCE_AT = 1 + KEY_ID_BYTES;
const TAG_AT = NONCE_AT + NONCE_BYTES;
const HEADER_BYTES = TAG_AT + TAG_BYTES;
const CREDENTIAL = 'sandhaven-secret-key';

/**
 * Reads the key from the systemd credential if there is one, else from `keyFile`, which it creates with a new key
 * when missing. Rejects a key that is damaged or readable by others with `failed_precondition`.
 */
export function openSecrets(options: {
  keyFile: string;
  credentialsDirectory?: string | undefined;
}): Secrets {
  const { keyFile, credentialsDirectory = process.env['CREDENTIALS_DIRECTORY'] } = options;
  const credential = credentialsDirectory ? readIfThere(join(credentialsDirectory, CREDENTIAL)) : null;
  return secretsOf(credential ?? readKeyFile(keyFile));
}

export function secretsOf(key: Uint8Array): Secrets {
  if (key.length !== KEY_BYTES) {
    throw new SandhavenError(
      'failed_precondition',
      `The secret key has ${key.length} bytes; it must have ${KEY_BYTES}.`,
      { hint: 'Put back the secret.key file, or the credential, that belongs to this data directory.' },
    );
  }
  const derive = (info: string, bytes: number) => Buffer.from(hkdfSync('sha256', key, '', info, bytes));
  // Made once: with bytes, Node would create a key object for every box.
  const boxKey = createSecretKey(derive('sandhaven box 1', KEY_BYTES));
  const keyId = derive('sandhaven key id', KEY_ID_BYTES);
  return {
    keyId: keyId.toString('hex'),
    seal: (plaintext, place) => seal(boxKey, keyId, plaintext, place),
    open: (box, place) => open(boxKey, keyId, box, place),
    deriveKey: (purpose) => derive(`sandhaven purpose ${purpose}`, KEY_BYTES),
  };
}

/** Returns a name for the installation of a key, the same for all of its replicas: 6 of [0-9a-z], and no secret. */
export function installationOf(secrets: Pick<Secrets, 'deriveKey'>): string {
  return secrets.deriveKey('installation name').readUIntBE(0, 6).toString(36).padStart(6, '0').slice(-6);
}

function readKeyFile(file: string): Buffer {
  const key = readOrCreate(file, () => randomBytes(KEY_BYTES));
  if ((statSync(file).mode & 0o077) === 0) return key;
  throw new SandhavenError('failed_precondition', `The secret key ${file} can be read by other users.`, {
    hint: `Run: chmod 600 ${file}`,
  });
}

/** format (1) · key id (8) · nonce (12) · tag (16) · ciphertext */
function seal(key: KeyObject, keyId: Buffer, plaintext: string, place: Place): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(associatedData(keyId, place));
  const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.of(FORMAT), keyId, nonce, cipher.getAuthTag(), ciphertext]);
}

function open(key: KeyObject, keyId: Buffer, box: unknown, place: Place): string {
  if (!(box instanceof Uint8Array) || box.length < HEADER_BYTES || box[0] !== FORMAT) {
    throw new Error('not a sealed box');
  }
  const bytes = Buffer.from(box.buffer, box.byteOffset, box.byteLength);
  if (!bytes.subarray(1, NONCE_AT).equals(keyId)) throw new Error('the box was sealed with another key');
  const nonce = bytes.subarray(NONCE_AT, TAG_AT);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(bytes.subarray(TAG_AT, HEADER_BYTES));
  decipher.setAAD(associatedData(keyId, place));
  return decipher.update(bytes.subarray(HEADER_BYTES), undefined, 'utf8') + decipher.final('utf8');
}

function associatedData(keyId: Buffer, { table, row, column }: Place): Buffer {
  return Buffer.from(JSON.stringify([FORMAT, keyId.toString('hex'), table, row, column]));
}
