/** The SSH host key in the store: one for all replicas, and the one that clients know already. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openHostKey } from '../../src/store/files/ssh-host-key.ts';
import { temporaryDirectory } from './fixtures.ts';
import { memoryServiceSecrets } from './memory/memory-service-secrets.ts';

const quiet = { warn: () => {} };

it('is made once for all replicas, in OpenSSH’s format, and no file has it', async () => {
  const secrets = memoryServiceSecrets();
  const [here, there] = [temporaryDirectory(), temporaryDirectory()];
  const first = await openHostKey(secrets, join(here, 'ssh-host-key'), quiet);
  expect(await openHostKey(secrets, join(there, 'ssh-host-key'), quiet)).toEqual(first);
  expect([...readdirSync(here), ...readdirSync(there)]).toEqual([]);
  const file = join(here, 'to read');
  writeFileSync(file, first.privateKey, { mode: 0o600 });
  const read = execFileSync('ssh-keygen', ['-y', '-f', file], { encoding: 'utf8' });
  expect(read.split(' ').slice(0, 2).join(' ')).toBe(first.publicKey);
});

it('is that of an older version’s file, which is renamed', async () => {
  const file = join(temporaryDirectory(), 'ssh-host-key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'sandhaven', '-f', file]);
  const privateKey = readFileSync(file, 'utf8');
  const publicKey = readFileSync(`${file}.pub`, 'utf8').split(' ').slice(0, 2).join(' ');
  const secrets = memoryServiceSecrets();
  expect(await openHostKey(secrets, file, quiet)).toEqual({ privateKey, publicKey });
  expect(existsSync(file)).toBe(false);
  expect(readFileSync(`${file}.imported`, 'utf8')).toBe(privateKey);
  expect(await openHostKey(secrets, file, quiet)).toEqual({ privateKey, publicKey });
});

it('stays that of the store when a file has another, which stays and is logged', async () => {
  const secrets = memoryServiceSecrets();
  const file = join(temporaryDirectory(), 'ssh-host-key');
  const first = await openHostKey(secrets, file, quiet);
  const other = await openHostKey(memoryServiceSecrets(), file, quiet);
  writeFileSync(file, other.privateKey);
  const warnings: unknown[] = [];
  expect(await openHostKey(secrets, file, { warn: (_, details) => warnings.push(details) })).toEqual(first);
  expect(readFileSync(file, 'utf8')).toBe(other.privateKey);
  expect(warnings).toEqual([{ file }]);
});

it('is never a new one beside a damaged file', async () => {
  const file = join(temporaryDirectory(), 'ssh-host-key');
  writeFileSync(file, 'damaged');
  await expect(openHostKey(memoryServiceSecrets(), file, quiet)).rejects.toMatchObject({
    code: 'failed_precondition',
  });
  expect(readFileSync(file, 'utf8')).toBe('damaged');
});
