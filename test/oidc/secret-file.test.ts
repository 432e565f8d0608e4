/** The file with the client secret: read at the start, and by nobody else. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openIdentityProvider } from '../../src/identity/openid.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandhaven-oidc-secret-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

function open(clientSecretFile: string) {
  const rules = { adminGroups: [], memberGroups: ['dev'], emailDomains: [] };
  const options = {
    issuer: 'https://login.example.com/',
    clientId: 'c',
    scopes: ['openid'],
    groupsClaim: 'groups',
  };
  const silent = () => {};
  const log = { info: silent, warn: silent, error: silent };
  return openIdentityProvider({ ...options, clientSecretFile, rules, name: 'Team' }, Date, log);
}

function file(name: string, text: string, mode: number): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

it('is read without asking the provider anything', () => {
  const { issuer, name } = open(file('right', 'secret\n', 0o600));
  expect({ issuer, name }).toEqual({ issuer: 'https://login.example.com', name: 'Team' });
});

it.each([
  ['that others can read', 'open', 'secret', 0o640, 'can be read by other users'],
  ['that is empty', 'empty', ' \n', 0o600, 'is empty'],
  ['of more than 64 KiB', 'large', 'x'.repeat(65_537), 0o600, 'cannot be read'],
])('is refused %s, without a word of it', (_what, name, text, mode, said) => {
  expect(() => open(file(name, text, mode))).toThrow(
    expect.objectContaining({
      code: 'failed_precondition',
      message: `The file of --oidc-client-secret-file ${said}.`,
    }),
  );
});

it('is refused when it is not there', () => {
  expect(() => open(join(folder, 'missing'))).toThrow(
    'The file of --oidc-client-secret-file cannot be read.',
  );
});
