/**
 * The certificates of one installation: its own authority signs the service's, which every agent demands, and one for
 * each sandbox and generation, which the service demands of that agent. They name identities, not hosts: addresses of
 * Pods are used again.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  X509Certificate,
} from 'node:crypto';
import type { ServiceSecretStore } from '../control/ports/index.ts';
import { type CertificateFields, makeCertificate } from '../model/certificates/certificate.ts';
import { SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';

/** PEM. */
export interface CertifiedKey {
  certificate: string;
  /** PKCS #8, unencrypted: the caller seals it. */
  key: string;
}

const { authorityMs, serviceMs, sandboxMs, clockSkewMs } = limits.agentTls;

/** Part of an identity: must not add a part to it. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Identity of the one client that agents of the installation serve. */
export function serviceIdentity(installation: string): string {
  return `sandhaven://service/${checked(installation)}`;
}

/** Identity of a sandbox's agent between two starts. */
export function sandboxIdentity(id: string, generation: number): string {
  if (!Number.isSafeInteger(generation) || generation < 0) throw unfit(String(generation));
  return `sandhaven://sandbox/${checked(id)}/${generation}`;
}

export function makeAuthority(installation: string, nowMs: number): CertifiedKey {
  const { publicKey, privateKey } = newKey();
  const name = authorityName(installation);
  const certificate = makeCertificate({
    kind: 'authority',
    subject: name,
    issuer: name,
    publicKey,
    signingKey: privateKey,
    ...validity(nowMs, authorityMs),
  });
  return { certificate, key: toPem(privateKey) };
}

/** Certificate of the service, for its connections to agents. */
export function certifyService(authority: CertifiedKey, installation: string, nowMs: number): CertifiedKey {
  return certify(authority, {
    kind: 'client',
    subject: `sandhaven service ${installation}`,
    uri: serviceIdentity(installation),
    ...validity(nowMs, serviceMs),
  });
}

/** Certificate of an agent, which listens with it. Older generations keep theirs, and nobody connects to them. */
export function certifySandbox(
  authority: CertifiedKey,
  id: string,
  generation: number,
  nowMs: number,
): CertifiedKey {
  return certify(authority, {
    kind: 'server',
    subject: id,
    uri: sandboxIdentity(id, generation),
    ...validity(nowMs, sandboxMs),
  });
}

type Leaf = Pick<CertificateFields, 'kind' | 'subject' | 'uri' | 'notBeforeMs' | 'notAfterMs'>;

function certify(authority: CertifiedKey, leaf: Leaf): CertifiedKey {
  const { publicKey, privateKey } = newKey();
  const certificate = makeCertificate({
    ...leaf,
    issuer: nameOf(authority.certificate),
    publicKey,
    signingKey: createPrivateKey(authority.key),
  });
  return { certificate, key: toPem(privateKey) };
}

const authorityName = (installation: string): string => `sandhaven authority ${checked(installation)}`;

/** The common name, which is all of an authority's name. */
function nameOf(certificate: string): string {
  return new X509Certificate(certificate).subject.replace(/^CN=/, '');
}

const validity = (nowMs: number, lengthMs: number) => ({
  notBeforeMs: nowMs - clockSkewMs,
  notAfterMs: nowMs + lengthMs,
});

function newKey(): { publicKey: KeyObject; privateKey: KeyObject } {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

const toPem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

function checked(name: string): string {
  if (!NAME.test(name)) throw unfit(name);
  return name;
}

function unfit(name: string): SandhavenError {
  return new SandhavenError('invalid_argument', `A certificate cannot name '${name.slice(0, 64)}'.`);
}

/** In the store. */
const SECRET_NAME = 'agent authority';

/**
 * Returns the authority that the store keeps, so that agents know every replica by it; makes it, once, when there is none.
 * @param installation Name of a new one.
 */
export async function openAuthority(
  secrets: ServiceSecretStore,
  installation: string,
  nowMs: number,
): Promise<CertifiedKey> {
  const text = await secrets.getOrCreate(SECRET_NAME, () =>
    JSON.stringify(makeAuthority(installation, nowMs)),
  );
  const { certificate, key } = JSON.parse(text) as CertifiedKey;
  if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) {
    throw new Error('the key in the store is not that of the authority');
  }
  return { certificate, key };
}
