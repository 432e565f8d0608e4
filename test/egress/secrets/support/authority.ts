/** The authority of a sandbox, as the service makes it. */
import { generateKeyPairSync } from 'node:crypto';
import { makeCertificate } from '../../../../src/model/certificates/certificate.ts';

export interface SandboxAuthority {
  /** As the egress program gets it. */
  given: { key: string; subject: string };
  /** Certificate that the sandbox trusts. */
  pem: string;
}

const dayMs = 86_400_000;

export function makeAuthority(sandbox: string): SandboxAuthority {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = `Sandhaven sandbox ${sandbox}`;
  const [notBeforeMs, notAfterMs] = [Date.now() - dayMs, Date.now() + dayMs];
  return {
    given: { key: privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'), subject },
    pem: makeCertificate({
      kind: 'authority',
      subject,
      issuer: subject,
      publicKey,
      signingKey: privateKey,
      notBeforeMs,
      notAfterMs,
    }),
  };
}
