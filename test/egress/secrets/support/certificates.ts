/** Certificates of an internet: an authority that a host trusts, and what it signs. Made with openssl. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Signed {
  key: string;
  cert: string;
}

export interface Roots {
  /** Bundle with the authority alone. */
  bundleFile: string;
  /** A certificate for these names, valid for some years. */
  sign(names: string[], years?: [number, number]): Signed;
  remove(): void;
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
const settings = `
[ca]
default_ca = own
[own]
database = index.txt
serial = serial
new_certs_dir = .
default_md = sha256
unique_subject = no
policy = any
[any]
commonName = supplied
`;
const lastYear = new Date().getUTCFullYear() - 1;

/** @param name Common name of the authority. */
export function makeRoots(name = 'root'): Roots {
  const folder = mkdtempSync(join(tmpdir(), 'sandhaven-roots-'));
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  writeFileSync(join(folder, 'ca.cnf'), settings);
  writeFileSync(join(folder, 'index.txt'), '');
  const root = ['-keyout', 'root.key', '-out', 'root.pem'];
  openssl('req', '-x509', ...newKey, '-days', '2', '-subj', `/CN=${name}`, ...root);
  return {
    bundleFile: join(folder, 'root.pem'),
    sign(names, [first, last] = [lastYear, lastYear + 3]) {
      const alternatives = names.map((name) => `DNS:${name}`).join(',');
      writeFileSync(join(folder, 'leaf.ext'), `subjectAltName=${alternatives}\n`);
      openssl('req', '-new', ...newKey, '-subj', '/CN=server', '-keyout', 'leaf.key', '-out', 'leaf.csr');
      openssl(
        ...['ca', '-config', 'ca.cnf', '-batch', '-notext', '-rand_serial'],
        ...['-cert', 'root.pem', '-keyfile', 'root.key', '-in', 'leaf.csr', '-out', 'leaf.pem'],
        ...['-startdate', `${first}0101000000Z`, '-enddate', `${last}0101000000Z`, '-extfile', 'leaf.ext'],
      );
      const read = (file: string) => readFileSync(join(folder, file), 'utf8');
      return { key: read('leaf.key'), cert: read('leaf.pem') };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
