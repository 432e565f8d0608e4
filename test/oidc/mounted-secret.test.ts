/** The file with the client secret as Kubernetes mounts it: root's, for the group of the service, which is not root. */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

const opener = join(import.meta.dirname, '../../src/identity/openid.ts');
/** Opens a provider with the file that its last argument names. */
const program = `
  const { openIdentityProvider } = await import(${JSON.stringify(opener)});
  const options = { issuer: 'https://login.example.com', clientId: 'c', scopes: [], groupsClaim: 'groups', name: 'Team' };
  const rules = { adminGroups: [], memberGroups: ['dev'], emailDomains: [] };
  const log = { info() {}, warn() {}, error() {} };
  try {
    openIdentityProvider({ ...options, rules, clientSecretFile: process.argv.at(-1) }, Date, log);
    console.log('opened');
  } catch (error) {
    console.log(error.message);
  }`;

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandhaven-mounted-'));
  chmodSync(folder, 0o755);
});

afterAll(() => rmSync(folder, { recursive: true }));

/** Opens it as the user of the service's image; resolves with what the program says. */
function openAsService({ owner, group, mode }: { owner: number; group: number; mode: number }): string {
  const file = join(folder, 'client-secret');
  rmSync(file, { force: true });
  writeFileSync(file, 'secret');
  chownSync(file, owner, group);
  chmodSync(file, mode);
  const user = ['--reuid=10001', '--regid=10001', '--groups=10001'];
  // It reads the checkout, which root alone may enter.
  const rights = ['--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search'];
  const node = [process.execPath, '--input-type=module', '-e', program, file];
  const { stdout, stderr } = spawnSync('setpriv', [...user, ...rights, ...node], {
    encoding: 'utf8',
    cwd: '/',
  });
  return stdout.trim() || stderr;
}

const READABLE = 'The file of --oidc-client-secret-file can be read by other users.';

it.each([
  ['root’s, which the group of the service reads', { owner: 0, group: 10_001, mode: 0o440 }, 'opened'],
  ['its own', { owner: 10_001, group: 10_001, mode: 0o400 }, 'opened'],
  ['root’s, which everybody reads', { owner: 0, group: 10_001, mode: 0o444 }, READABLE],
  ['root’s, which the group writes', { owner: 0, group: 10_001, mode: 0o460 }, READABLE],
  ['root’s, which another group reads', { owner: 0, group: 20_002, mode: 0o440 }, READABLE],
  ['its own, which its group reads', { owner: 10_001, group: 10_001, mode: 0o440 }, READABLE],
])('is %s', (_whose, file, says) => {
  expect(openAsService(file)).toBe(says);
});
