/** Makes X.509 certificates (RFC 5280) of three fixed kinds, on P-256 with SHA-256. */
import { createHash, createPublicKey, type KeyObject, randomBytes, sign } from 'node:crypto';
import * as der from './der.ts';

export type CertificateKind = 'authority' | 'client' | 'server';

export interface CertificateFields {
  kind: CertificateKind;
  /** Common name, for people: programs compare `uri`. */
  subject: string;
  issuer: string;
  /** Of the subject. */
  publicKey: KeyObject;
  /** Of the issuer. */
  signingKey: KeyObject;
  notBeforeMs: number;
  notAfterMs: number;
  /** The identity, in place of a host's name; an authority has none. */
  uri?: string;
  /** Positive number, of at most 20 bytes; a random one by default. */
  serial?: Buffer;
  /** Signs in place of `signingKey`, which has the same key. */
  sign?(content: Buffer): Buffer;
}

const oids = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const;

const VERSION_3 = Buffer.of(2);
const SERIAL_BYTES = 16;
const KEY_ID_BYTES = 20;
/** GeneralName: uniformResourceIdentifier. */
const URI_NAME = 6;
/** No authority below it. */
const PATH_LENGTH = Buffer.of(0);

/** As PEM. */
export function makeCertificate(fields: CertificateFields): string {
  const algorithm = der.sequence(der.objectId(oids.ecdsaWithSha256));
  const content = der.sequence(
    der.explicit(0, der.integer(VERSION_3)),
    der.integer(fields.serial ?? randomBytes(SERIAL_BYTES)),
    algorithm,
    nameOf(fields.issuer),
    der.sequence(der.time(seconds(fields.notBeforeMs)), der.time(seconds(fields.notAfterMs))),
    nameOf(fields.subject),
    encoded(fields.publicKey),
    der.explicit(3, der.sequence(...extensionsOf(fields))),
  );
  const signature = fields.sign?.(content) ?? sign('sha256', content, fields.signingKey);
  return toPem('CERTIFICATE', der.sequence(content, algorithm, der.bitString(signature)));
}

function extensionsOf({ kind, publicKey, signingKey, uri }: CertificateFields): Buffer[] {
  const isAuthority = kind === 'authority';
  const usage = kind === 'server' ? oids.serverAuth : oids.clientAuth;
  const extensions = [
    critical(
      oids.basicConstraints,
      isAuthority ? der.sequence(der.truth(), der.integer(PATH_LENGTH)) : der.sequence(),
    ),
    // keyCertSign is the sixth bit, digitalSignature the first.
    critical(
      oids.keyUsage,
      isAuthority ? der.bitString(Buffer.of(0x04), 2) : der.bitString(Buffer.of(0x80), 7),
    ),
    extension(oids.subjectKeyIdentifier, der.octetString(keyIdOf(publicKey))),
    extension(
      oids.authorityKeyIdentifier,
      der.sequence(der.implicit(0, keyIdOf(createPublicKey(signingKey)))),
    ),
  ];
  if (!isAuthority) extensions.push(extension(oids.extendedKeyUsage, der.sequence(der.objectId(usage))));
  if (uri !== undefined) {
    extensions.push(extension(oids.subjectAltName, der.sequence(der.implicit(URI_NAME, Buffer.from(uri)))));
  }
  return extensions;
}

const extension = (oid: string, value: Buffer): Buffer =>
  der.sequence(der.objectId(oid), der.octetString(value));

const critical = (oid: string, value: Buffer): Buffer =>
  der.sequence(der.objectId(oid), der.truth(), der.octetString(value));

/** Returns the eight digits by which OpenSSL finds the certificate of this name in a folder (`openssl x509 -subject_hash`). */
export function subjectHash(commonName: string): string {
  // OpenSSL's canonical form: lower-case, and the parts of the name without the sequence around them.
  const digest = createHash('sha1').update(partOf(commonName.toLowerCase())).digest();
  return digest.readUInt32LE().toString(16).padStart(8, '0');
}

const nameOf = (commonName: string): Buffer => der.sequence(partOf(commonName));

const partOf = (commonName: string): Buffer =>
  der.set(der.sequence(der.objectId(oids.commonName), der.utf8String(commonName)));

const encoded = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });

/** RFC 7093, 2.4: the start of a SHA-256 of the whole key. */
const keyIdOf = (key: KeyObject): Buffer =>
  createHash('sha256').update(encoded(key)).digest().subarray(0, KEY_ID_BYTES);

const seconds = (ms: number): number => Math.floor(ms / 1000);

function toPem(label: string, content: Buffer): string {
  const lines = content.toString('base64').match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}
