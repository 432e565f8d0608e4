/** A sandbox that runs while the service is upgraded keeps its agent: the new service speaks with the older one. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { must, type Service, startService } from '../support/service.ts';
import { storedVersions, unpackStored, withAgentOf } from './stored.ts';

describe.each(storedVersions)('a sandbox with the agent of %s', { timeout: 60_000 }, (version) => {
  const folder = mkdtempSync(join(tmpdir(), 'sandhaven-older-'));
  let service: Service;
  const sandbox = 'upgraded';

  beforeAll(async () => {
    const [stored, checkout, dataDir] = ['stored', 'checkout', 'data'].map((name) => join(folder, name));
    for (const path of [stored, checkout]) mkdirSync(path as string);
    unpackStored(version, stored as string);
    service = await startService({
      ...{ dataDir: dataDir as string, program: withAgentOf(stored as string, checkout as string) },
    });
    await must(service, 'CreateSandbox', { name: sandbox, disk_gb: 1 });
    await must(service, 'CreateSession', { sandbox, session_id: 'kept' });
    await must(service, 'RunSessionCommand', { sandbox, session_id: 'kept', command: 'VALUE=kept; cd /tmp' });
    await must(service, 'RunCommand', { sandbox, command: 'sleep 1000 & echo $! > /workspace/pid' });
    await service.terminate();
    service = await startService({ dataDir: dataDir as string });
  });

  afterAll(async () => {
    await service?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('goes on, with what runs inside and its sessions', async () => {
    expect(await must(service, 'GetSandbox', { sandbox })).toMatchObject({ state: 'started' });
    const command = 'kill -0 "$(cat /workspace/pid)" && echo alive';
    expect(await must(service, 'RunCommand', { sandbox, command })).toMatchObject({ stdout: 'alive\n' });
    const asked = { sandbox, session_id: 'kept', command: 'echo $VALUE in $PWD' };
    expect(await must(service, 'RunSessionCommand', asked)).toMatchObject({ output: 'kept in /tmp\n' });
  });

  it('serves code, files and searches, and starts again', async () => {
    expect(await must(service, 'RunCode', { sandbox, code: 'print(6 * 7)' })).toMatchObject({
      stdout: '42\n',
    });
    await must(service, 'WriteFile', { sandbox, path: 'a/b.txt', content: 'one\ntwo\n' });
    expect(await must(service, 'ReadFile', { sandbox, path: 'a/b.txt' })).toMatchObject({
      content: 'one\ntwo\n',
    });
    const search = { sandbox, query: 'two', path: 'a' };
    expect(await must(service, 'SearchContent', search)).toMatchObject({
      files: [{ path: 'a/b.txt', matches: [{ line: 2, text: 'two' }] }],
    });
    await must(service, 'StopSandbox', { sandbox });
    expect(await must(service, 'StartSandbox', { sandbox })).toMatchObject({ state: 'started' });
    expect(await must(service, 'ReadFile', { sandbox, path: 'a/b.txt' })).toMatchObject({
      content: 'one\ntwo\n',
    });
  });
});
