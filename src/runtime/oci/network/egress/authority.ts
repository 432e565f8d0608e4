/**
 * Certificate authority of one sandbox, by which the egress program answers its clients in place of hosts that take secrets.
 * All of it follows from a key of the installation and the sandbox's id: nothing is stored, and a restart changes nothing.
 * Its key goes to the egress program alone, its certificate into the sandbox.
 */
import { createECDH, createPrivateKey, createPublicKey, hkdfSync, type KeyObject } from 'node:crypto';
import { makeCertificate } from '../../../../model/certificates/certificate.ts';
import {
  bytesOf,
  numberOf,
  P256_ORDER,
  signRepeatably,
} from '../../../../model/certificates/repeatable-signature.ts';

export interface Authority {
  /** Common name. */
  subject: string;
  /** PKCS #8, DER, base64. */
  key: string;
}

/** Dates of every certificate, so that one made again is the same. */
const NOT_BEFORE_MS = Date.parse('2026-01-01T00:00:00Z');
const NOT_AFTER_MS = Date.parse('2036-01-01T00:00:00Z');

/** Half as long again as the number, so that no remainder is likelier than another (FIPS 186-5, A.2.1). */
const KEY_MATERIAL_BYTES = 48;
const SERIAL_BYTES = 16;

/** @param installationKey 32 bytes, for authorities alone. */
export function authorityOf(installationKey: Buffer, sandboxId: string): Authority {
  const key = privateKey(secretNumber(installationKey, sandboxId));
  return {
    subject: subjectOf(sandboxId),
    key: key.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
  };
}

/** Returns the certificate of the sandbox's authority in PEM, the same each time. */
export function authorityCertificate(installationKey: Buffer, sandboxId: string): string {
  const number = secretNumber(installationKey, sandboxId);
  const key = privateKey(number);
  const subject = subjectOf(sandboxId);
  return makeCertificate({
    ...{ kind: 'authority', subject, issuer: subject },
    publicKey: createPublicKey(key),
    signingKey: key,
    notBeforeMs: NOT_BEFORE_MS,
    notAfterMs: NOT_AFTER_MS,
    serial: derived(installationKey, sandboxId, 'serial', SERIAL_BYTES),
    sign: (content) => signRepeatably(number, content),
  });
}

const subjectOf = (sandboxId: string): string => `Sandhaven sandbox ${sandboxId}`;

function secretNumber(installationKey: Buffer, sandboxId: string): Buffer {
  const material = numberOf(derived(installationKey, sandboxId, 'key', KEY_MATERIAL_BYTES));
  return bytesOf((material % (P256_ORDER - 1n)) + 1n);
}

function derived(installationKey: Buffer, sandboxId: string, part: string, bytes: number): Buffer {
  const purpose = `sandhaven sandbox authority 1 ${part} ${sandboxId}`;
  return Buffer.from(hkdfSync('sha256', installationKey, '', purpose, bytes));
}

function privateKey(number: Buffer): KeyObject {
  const pair = createECDH('prime256v1');
  pair.setPrivateKey(number);
  const point = pair.getPublicKey();
  const half = (point.length - 1) / 2;
  const [x, y] = [point.subarray(1, 1 + half), point.subarray(1 + half)];
  const text = (bytes: Buffer) => bytes.toString('base64url');
  const jwk = { kty: 'EC', crv: 'P-256', d: text(number), x: text(x), y: text(y) };
  return createPrivateKey({ key: jwk, format: 'jwk' });
}
