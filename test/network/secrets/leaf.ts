/** Servers' certificates that an authority has signed, made with openssl. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { authorityCertificate, authorityOf } from '../../../src/runtime/oci/network/egress/authority.ts';

/** PEM. */
export interface Leaf {
  key: string;
  cert: string;
}

/** PEM of both. */
export interface SigningAuthority {
  certificate: string;
  key: string;
}

/** The authority of a sandbox. */
export function authorityOfSandbox(id: string): SigningAuthority {
  const installationKey = Buffer.alloc(32, 1);
  const { key } = authorityOf(installationKey, id);
  return {
    certificate: authorityCertificate(installationKey, id),
    key: `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n`,
  };
}

export function signLeaf(authority: SigningAuthority, ...hosts: string[]): Leaf {
  const folder = mkdtempSync(join(tmpdir(), 'sandhaven-leaf-'));
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  writeFileSync(at('ca.key'), authority.key);
  writeFileSync(at('ca.pem'), authority.certificate);
  const names = hosts.map((host) => `DNS:${host}`).join(',');
  writeFileSync(
    at('extensions'),
    `subjectAltName=${names}\nauthorityKeyIdentifier=keyid\nbasicConstraints=critical,CA:FALSE\n`,
  );
  const curve = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-subj',
    `/CN=${hosts[0]}`,
  ];
  openssl('req', '-new', ...curve, '-keyout', 'leaf.key', '-out', 'leaf.csr');
  const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-set_serial', '2', '-days', '2'];
  openssl('x509', '-req', '-in', 'leaf.csr', ...signing, '-extfile', 'extensions', '-out', 'leaf.pem');
  const leaf = { key: readFileSync(at('leaf.key'), 'utf8'), cert: readFileSync(at('leaf.pem'), 'utf8') };
  rmSync(folder, { recursive: true });
  return leaf;
}
