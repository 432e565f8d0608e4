/**
 * The SSH gateway's host key: created once and stored in OpenSSH's format, readable by ssh-keygen. Clients recognize
 * the service by it.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { renameSync } from 'node:fs';
import type { Log, ServiceSecretStore } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import { readIfThere } from './durable-file.ts';

export interface HostKey {
  /** In OpenSSH's format. */
  privateKey: string;
  /** `ssh-ed25519 AAAA…` */
  publicKey: string;
}

/** In the store. */
const NAME = 'ssh host key';
const TYPE = 'ssh-ed25519';
const MAGIC = 'openssh-key-v1\0';
const BEGIN = '-----BEGIN OPENSSH PRIVATE KEY-----';
const END = '-----END OPENSSH PRIVATE KEY-----';
const LINE_CHARS = 70;
const BLOCK_BYTES = 8;

/**
 * Returns the key that the store keeps, sealed, for all replicas. At first it is the one in the file of an older version,
 * or a new one; the file is then renamed to `….imported`. A file with another key stays, and is not used.
 */
export async function openHostKey(
  secrets: ServiceSecretStore,
  file: string,
  log: Pick<Log, 'warn'>,
): Promise<HostKey> {
  const older = readIfThere(file)?.toString() ?? null;
  const privateKey = await secrets.getOrCreate(NAME, () => imported(file, older) ?? newPrivateKey());
  if (older === privateKey) renameSync(file, `${file}.imported`);
  else if (older !== null)
    log.warn('the file holds another SSH host key than the store, and is not used', { file });
  const publicKey = publicPart(privateKey);
  if (publicKey === null) throw new Error('the store does not hold an SSH host key');
  return { privateKey, publicKey };
}

/** Throws `failed_precondition` for a file without a key: a new one would look like an attack to clients. */
function imported(file: string, privateKey: string | null): string | null {
  if (privateKey === null || publicPart(privateKey) !== null) return privateKey;
  throw new SandhavenError('failed_precondition', `The file ${file} does not hold an SSH host key.`, {
    hint: 'Put back the one that belongs to this data directory, or remove the file to get a new one.',
  });
}

/** Private key in the format of OpenSSH's PROTOCOL.key, without a passphrase. */
function newPrivateKey(): string {
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const seed = Buffer.from(d, 'base64url');
  const point = Buffer.from(x, 'base64url');
  const publicBlob = Buffer.concat([text(TYPE), text(point)]);
  const check = randomBytes(4);
  const secret = Buffer.concat([
    check,
    check,
    text(TYPE),
    text(point),
    text(Buffer.concat([seed, point])),
    text('sandhaven'),
  ]);
  const padding = Buffer.from(Array.from({ length: -secret.length & (BLOCK_BYTES - 1) }, (_, i) => i + 1));
  const container = Buffer.concat([
    Buffer.from(MAGIC),
    text('none'),
    text('none'),
    text(''),
    number(1),
    text(publicBlob),
    text(Buffer.concat([secret, padding])),
  ]);
  const lines = container.toString('base64').match(new RegExp(`.{1,${LINE_CHARS}}`, 'g')) ?? [];
  return `${[BEGIN, ...lines, END].join('\n')}\n`;
}

/** Returns the public key; null when the text is not a key of this kind. */
function publicPart(privateKey: string): string | null {
  const [begin, ...lines] = privateKey.trim().split('\n');
  if (begin !== BEGIN || lines.pop() !== END) return null;
  const container = Buffer.from(lines.join(''), 'base64');
  const before = Buffer.concat([Buffer.from(MAGIC), text('none'), text('none'), text(''), number(1)]);
  const blobLength = text(TYPE).length + text(Buffer.alloc(32)).length;
  const at = before.length + 4;
  const blob = container.subarray(at, at + blobLength);
  const known =
    container.subarray(0, before.length).equals(before) &&
    blob.subarray(4, 4 + TYPE.length).toString() === TYPE;
  return known ? `${TYPE} ${blob.toString('base64')}` : null;
}

function text(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([number(bytes.length), bytes]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
