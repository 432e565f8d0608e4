/** The kernel keeps keys in a ring of the session that a process was started in. A machine has none of the service's. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startsDirectly } from '../../runtime/host.ts';
import { bin, must, type Service, startService } from '../../support/service.ts';
import { createPrograms } from '../programs.ts';
import { firstIdOf } from './machine-on-host.ts';

const RUNTIMES = startsDirectly ? ['runc', 'direct'] : ['runc'];
const ENOSYS = 38;
/** Of a start by the launcher; runc adds the sandbox's id. */
const OWN_RING = /keyring +_ses(?:\.sb_[a-z0-9]+)?: empty$/;

describe.each(RUNTIMES)('a machine of %s', (runtime) => {
  const name = `sandhaven-test-${randomUUID()}`;
  let folder: string;
  let service: Service;
  let sandbox: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sandhaven-keys-'));
    const env = { SANDHAVEN_MACHINE_RUNTIME: runtime };
    service = await startService({ env, program: programInRing(folder, name) });
    sandbox = String((await must(service, 'CreateSandbox', { name: 'box', cpu: 1, memory_gb: 1 }))['id']);
  }, 120_000);

  afterAll(async () => {
    await service.stop();
    rmSync(folder, { recursive: true });
  });

  it('shows root inside no key of the service, and refuses all questions about keys', async () => {
    const seen = JSON.parse(await createPrograms(service).inside('box', 'host-keys', name)) as unknown;
    expect(seen).toEqual({
      listed: '',
      'keyctl GET_KEYRING_ID': [-1, ENOSYS],
      'keyctl SEARCH': [-1, ENOSYS],
      'keyctl JOIN_SESSION_KEYRING': [-1, ENOSYS],
      request_key: [-1, ENOSYS],
      add_key: [-1, ENOSYS],
    });
  });

  it('has a ring of its own, without keys', async () => {
    expect(keysSeenBy(0)).toContain(`${name}-key`);
    const owner = firstIdOf(service.dataDir, sandbox);
    // The kernel removes the ring of the last machine with these ids a moment after its end.
    await expect
      .poll(() => keysSeenBy(owner).split('\n').filter(Boolean))
      .toEqual([expect.stringMatching(OWN_RING)]);
  });
});

/** Only an owner of keys is shown them, whatever rights somebody else has. */
function keysSeenBy(uid: number): string {
  const ids = ['--reuid', String(uid), '--clear-groups'];
  return execFileSync('setpriv', [...ids, 'cat', '/proc/keys'], { encoding: 'latin1' });
}

/** Starts the service in a ring of that name with one key. */
function programInRing(folder: string, name: string): string {
  const path = join(folder, 'sandhaven');
  const source = `#!/usr/bin/python3
import ctypes, os, sys
ADD_KEY, KEYCTL, JOIN_SESSION_KEYRING, SESSION = 248, 250, 1, -3
call = ctypes.CDLL(None).syscall
if call(KEYCTL, JOIN_SESSION_KEYRING, b'${name}') == -1 or call(ADD_KEY, b'user', b'${name}-key', b'secret', 6, SESSION) == -1:
    sys.exit('this kernel has no keys')
os.execv('${bin}', ['${bin}', *sys.argv[1:]])
`;
  writeFileSync(path, source);
  chmodSync(path, 0o755);
  return path;
}
