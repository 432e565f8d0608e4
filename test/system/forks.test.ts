/** Snapshots and forks of real sandboxes: what they hold, that nobody changes another's, and what a kill leaves. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandhaven } from '../../sdk/src/index.ts';
import { act, mustAct, person } from '../support/people.ts';
import { call, must, type Service, startService } from '../support/service.ts';

let service: Service;

beforeAll(async () => {
  service = await startService();
  await must(service, 'CreateSandbox', {
    name: 'box',
    memory_gb: 1,
    disk_gb: 1,
    labels: { team: 'one' },
    env_vars: { PLACE: 'here' },
  });
}, 120_000);

afterAll(() => service?.stop());

const run = async (sandbox: string, command: string) =>
  (await must(service, 'RunCommand', { sandbox, command }))['output'];
const captured = () => readdirSync(join(service.dataDir, 'captures')).toSorted();

describe('a snapshot of a sandbox', () => {
  it('holds its files and programs as they were, and is a start like any other', async () => {
    await run('box', 'echo before > /workspace/file; echo mine > /usr/local/share/mine; sleep 100 & echo');
    const taken = await must(service, 'SnapshotSandbox', { sandbox: 'box', name: 'point' });
    expect(taken).toMatchObject({
      name: 'point',
      state: 'active',
      image: 'base',
      resources: { cpu: 2, memory: 1, disk: 1, gpu: 0 },
      source: { name: 'box' },
      size_bytes: expect.any(Number),
    });
    await run('box', 'echo after > /workspace/file');
    const made = await must(service, 'CreateSandbox', { name: 'made', snapshot: 'point', memory_gb: 8 });
    expect(made).toMatchObject({ snapshot: 'point', resources: { memory: 1, disk: 1 } });
    expect(await run('made', 'cat /workspace/file /usr/local/share/mine; pgrep -c sleep')).toBe(
      'before\nmine\n0\n',
    );
    await run('made', 'echo other > /workspace/file');
    expect(await run('box', 'cat /workspace/file; pgrep -c sleep')).toBe('after\n1\n');
    await must(service, 'DeleteSandbox', { sandbox: 'made' });
  });

  it('is taken of a stopped one and of an archived one, and outlives it', async () => {
    await must(service, 'CreateSandbox', { name: 'short', memory_gb: 1, disk_gb: 1 });
    await run('short', 'echo kept > /workspace/file');
    await must(service, 'StopSandbox', { sandbox: 'short' });
    await must(service, 'SnapshotSandbox', { sandbox: 'short', name: 'of stopped' });
    await must(service, 'ArchiveSandbox', { sandbox: 'short' });
    await must(service, 'SnapshotSandbox', { sandbox: 'short', name: 'of archived' });
    await must(service, 'DeleteSandbox', { sandbox: 'short' });
    for (const snapshot of ['of stopped', 'of archived']) {
      await must(service, 'CreateSandbox', { name: 'made', snapshot });
      expect(await run('made', 'cat /workspace/file')).toBe('kept\n');
      await mustAct(service, 'DeleteSnapshot', { snapshot });
      await must(service, 'StopSandbox', { sandbox: 'made' });
      await must(service, 'StartSandbox', { sandbox: 'made' });
      expect(await run('made', 'cat /workspace/file')).toBe('kept\n');
      await must(service, 'DeleteSandbox', { sandbox: 'made' });
    }
  });

  it("is refused by its name, by the quota, and where the sandbox is another owner's", async () => {
    const before = captured();
    expect(await call(service, 'SnapshotSandbox', { sandbox: 'box', name: 'point' })).toMatchObject({
      body: { code: 'already_exists' },
    });
    expect(await call(service, 'SnapshotSandbox', { sandbox: 'box', name: 'base' })).toMatchObject({
      body: { code: 'already_exists' },
    });
    const member = await person(service, 'Member');
    expect(await call(member, 'SnapshotSandbox', { sandbox: 'box' })).toMatchObject({
      body: { code: 'not_found', resource: 'sandbox' },
    });
    expect(captured()).toEqual(before);
  });

  it('goes with its disk', async () => {
    const { id } = await must(service, 'SnapshotSandbox', { sandbox: 'box' });
    expect(captured()).toContain(id);
    await mustAct(service, 'DeleteSnapshot', { snapshot: id });
    expect(captured()).not.toContain(id);
    expect(await act(service, 'DeleteSnapshot', { snapshot: id })).toMatchObject({
      body: { code: 'not_found' },
    });
  });
});

describe('forks', () => {
  it('have the files of one moment and the settings of the sandbox, and are independent', async () => {
    await run('box', 'echo shared > /workspace/file');
    const { sandboxes, failed } = (await must(service, 'ForkSandbox', {
      sandbox: 'box',
      count: 3,
      name: 'try',
    })) as { sandboxes: { name: string; labels: object }[]; failed: object[] };
    expect(failed).toEqual([]);
    expect(sandboxes.map(({ name }) => name)).toEqual(['try-1', 'try-2', 'try-3']);
    expect(sandboxes[0]?.labels).toEqual({ team: 'one' });
    for (const { name } of sandboxes) {
      expect(await run(name, 'cat /workspace/file; echo $PLACE')).toBe('shared\nhere\n');
      await run(name, `echo ${name} > /workspace/file`);
    }
    expect(await run('box', 'cat /workspace/file')).toBe('shared\n');
    for (const { name } of sandboxes) {
      expect(await run(name, 'cat /workspace/file')).toBe(`${name}\n`);
      await must(service, 'DeleteSandbox', { sandbox: name });
    }
    expect(captured().filter((name) => name.startsWith('fork_'))).toEqual([]);
  });

  it('fail by themselves, and say why', async () => {
    await must(service, 'CreateSandbox', { name: 'way-2', memory_gb: 1, disk_gb: 1 });
    const { sandboxes, failed } = await must(service, 'ForkSandbox', {
      sandbox: 'box',
      count: 2,
      name: 'way',
    });
    expect(sandboxes).toMatchObject([{ name: 'way-1' }]);
    expect(failed).toMatchObject([{ code: 'already_exists' }]);
    expect(await call(service, 'ForkSandbox', { sandbox: 'box', name: 'box' })).toMatchObject({
      body: { code: 'already_exists' },
    });
    for (const sandbox of ['way-1', 'way-2']) await must(service, 'DeleteSandbox', { sandbox });
  });
});

it('the SDK takes snapshots, and gets handles of forks', async () => {
  const client = new Sandhaven({ url: service.url, apiKey: service.apiKey });
  const box = client.sandbox('box');
  await box.files.write('sdk', 'of the SDK');
  const { id, source } = await box.snapshot();
  expect(source?.name).toBe('box');
  const { sandboxes, failed } = await box.fork({ count: 2 });
  expect([sandboxes.length, failed]).toEqual([2, []]);
  for (const one of [...sandboxes, await client.create({ snapshot: id })]) {
    expect((await one.files.read('sdk')).content).toBe('of the SDK');
    await one.delete();
  }
  await client.snapshots.delete(id);
});

it('what a killed service left half-made is gone, or ends in error, after the next start', async () => {
  const taking = call(service, 'SnapshotSandbox', { sandbox: 'box', name: 'cut' }).catch(() => null);
  await service.kill();
  await taking;
  await service.restart();
  const cut = await call(service, 'GetSnapshot', { snapshot: 'cut' });
  if (cut.status === 200) {
    expect(['active', 'error']).toContain(cut.body['state']);
    await mustAct(service, 'DeleteSnapshot', { snapshot: 'cut' });
  }
  await must(service, 'SnapshotSandbox', { sandbox: 'box', name: 'cut' });
  await must(service, 'CreateSandbox', { name: 'made', snapshot: 'cut' });
  expect(await run('made', 'cat /workspace/file')).toBe('shared\n');
});
