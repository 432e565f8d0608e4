/** Encryption of archives with a key that tests share. */
import { type ArchiveEncryption, createArchiveEncryption } from '../../src/runtime/archives/protection.ts';

export function testEncryption({
  encrypts = true,
  fill = 7,
  keyId = '0123456789abcdef',
} = {}): ArchiveEncryption {
  return createArchiveEncryption({ key: Buffer.alloc(32, fill), keyId }, encrypts);
}
