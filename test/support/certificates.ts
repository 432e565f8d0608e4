/** Certificates that sign themselves, made with openssl in a folder of their own. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface MadeCertificate {
  certFile: string;
  keyFile: string;
  /** PEM of the certificate, for whoever is to believe it. */
  pem(): string;
  key(): string;
  /** Another one in the place of both files, as one that is renewed. */
  renew(): void;
  remove(): void;
}

/**
 * @param names As openssl writes them, such as `DNS:*.example.com`.
 * @param isAuthority false: some clients take none that could sign others for that of a server.
 */
export function makeCertificate(names: string[], isAuthority = true): MadeCertificate {
  const folder = mkdtempSync(join(tmpdir(), 'sandhaven-certificate-'));
  const certFile = join(folder, 'cert.pem');
  const keyFile = join(folder, 'key.pem');
  const make = () => {
    const [cert, key] = [join(folder, 'new-cert.pem'), join(folder, 'new-key.pem')];
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
        ...['-subj', '/CN=sandhaven test', '-addext', `subjectAltName=${names.join(',')}`],
        ...(isAuthority ? [] : ['-addext', 'basicConstraints=critical,CA:FALSE']),
        ...['-keyout', key, '-out', cert],
      ],
      { stdio: 'pipe' },
    );
    renameSync(cert, certFile);
    renameSync(key, keyFile);
  };
  make();
  return {
    certFile,
    keyFile,
    pem: () => readFileSync(certFile, 'utf8'),
    key: () => readFileSync(keyFile, 'utf8'),
    renew: make,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
