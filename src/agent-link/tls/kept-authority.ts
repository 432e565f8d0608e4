/** The authority of the installation's certificates in the store, so that agents know every replica by it. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { ServiceSecretStore } from '../../control/ports/index.ts';
import { type CertifiedKey, makeAuthority } from './authority.ts';

/** In the store. */
const NAME = 'agent authority';

/** Returns the authority of the store; makes it, once, when there is none. @param installation Name of a new one. */
export async function openAuthority(
  secrets: ServiceSecretStore,
  installation: string,
  nowMs: number,
): Promise<CertifiedKey> {
  const text = await secrets.getOrCreate(NAME, () => JSON.stringify(makeAuthority(installation, nowMs)));
  const { certificate, key } = JSON.parse(text) as CertifiedKey;
  if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) {
    throw new Error('the key in the store is not that of the authority');
  }
  return { certificate, key };
}
