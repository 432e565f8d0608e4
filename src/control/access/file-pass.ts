/**
 * Pass to one file: says in the path of an address which file it is, for whom, and until when. The name of the host holds
 * its signature, so neither part opens anything alone.
 */
import { randomBytes } from 'node:crypto';

export interface FilePass {
  sandboxId: string;
  path: string;
  /** Owner of the sandbox: the user, or a team that the user acts for. */
  ownerId: string;
  userId: string;
  keyId: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

const NONCE_BYTES = 12;

/** Returns the text of the pass, which no two passes have in common. */
export function writePass({ sandboxId, path, ownerId, userId, keyId, expiresAt }: FilePass): string {
  const nonce = randomBytes(NONCE_BYTES).toString('base64url');
  const fields = [sandboxId, path, ownerId, userId, keyId, expiresAt, nonce];
  return Buffer.from(JSON.stringify(fields)).toString('base64url');
}

/** Returns null for what is no pass. The signature is not looked at. */
export function readPass(text: string): FilePass | null {
  const [sandboxId, path, ownerId, userId, keyId, expiresAt] = fieldsOf(text);
  const texts = [sandboxId, path, ownerId, userId, keyId];
  if (!texts.every((value) => typeof value === 'string') || typeof expiresAt !== 'number') return null;
  return { sandboxId, path, ownerId, userId, keyId, expiresAt } as FilePass;
}

function fieldsOf(text: string): unknown[] {
  try {
    const fields: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return Array.isArray(fields) ? fields : [];
  } catch {
    return [];
  }
}
