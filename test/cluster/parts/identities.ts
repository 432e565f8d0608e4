/** The cluster's own authority: certificates of its programs, and the files by which they find the API server. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Identity {
  certFile: string;
  keyFile: string;
}

export interface Authority {
  caFile: string;
  /** Signs the tokens of service accounts. */
  serviceAccounts: { privateFile: string; publicFile: string };
  /** @param names As openssl writes them, such as `IP:192.0.2.1`; none for a client. */
  issue(file: string, user: string, group?: string, names?: string[]): Identity;
  /** Writes a kubeconfig that holds all that it needs, and returns its path. */
  kubeconfig(server: string, identity: Identity): string;
}

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];

export function createAuthority(folder: string): Authority {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = (name: string) => join(folder, name);
  const caFile = file('ca.pem');
  openssl(['req', '-x509', ...KEY, '-subj', '/CN=test cluster', '-keyout', file('ca.key'), '-out', caFile]);
  const serviceAccounts = { privateFile: file('accounts.key'), publicFile: file('accounts.pem') };
  const { privateFile, publicFile } = serviceAccounts;
  openssl(['genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out', privateFile]);
  openssl(['pkey', '-in', privateFile, '-pubout', '-out', publicFile]);
  return {
    caFile,
    serviceAccounts,
    issue(name, user, group, names = []) {
      const identity = { certFile: file(`${name}.pem`), keyFile: file(`${name}.key`) };
      const extensions = [
        'basicConstraints=critical,CA:FALSE',
        'extendedKeyUsage=serverAuth,clientAuth',
        ...(names.length > 0 ? [`subjectAltName=${names.join(',')}`] : []),
      ];
      openssl([
        ...['req', '-x509', ...KEY, '-CA', caFile, '-CAkey', file('ca.key')],
        ...['-subj', `${group ? `/O=${group}` : ''}/CN=${user}`],
        ...extensions.flatMap((extension) => ['-addext', extension]),
        ...['-keyout', identity.keyFile, '-out', identity.certFile],
      ]);
      return identity;
    },
    kubeconfig(server, { certFile, keyFile }) {
      const path = certFile.replace(/\.pem$/, '.kubeconfig');
      const data = (source: string) => readFileSync(source).toString('base64');
      const config = {
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': data(caFile) } }],
        users: [
          {
            name: 'test',
            user: { 'client-certificate-data': data(certFile), 'client-key-data': data(keyFile) },
          },
        ],
        contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
        'current-context': 'test',
      };
      writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
      return path;
    },
  };
}

function openssl(args: string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' });
}
