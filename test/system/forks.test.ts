/** Snapshots, forks and rollbacks of real sandboxes: what they hold, that nobody changes another's, and what a kill leaves. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
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
const filesOf = (id: string) => readdirSync(join(service.dataDir, 'sandboxes', id)).toSorted();
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

describe('a rollback', () => {
  it('puts the files back, and starts the sandbox with its settings, whatever it was', async () => {
    await must(service, 'CreateSandbox', {
      name: 'back',
      memory_gb: 1,
      disk_gb: 1,
      env_vars: { PLACE: 'here' },
    });
    await run('back', 'echo before > /workspace/file');
    await must(service, 'SnapshotSandbox', { sandbox: 'back', name: 'good' });
    const rollBack = () => must(service, 'RollbackSandbox', { sandbox: 'back', snapshot: 'good' });
    const { id } = await must(service, 'GetSandbox', { sandbox: 'back' });
    for (const state of ['started', 'stopped', 'archived']) {
      await run('back', 'echo after > /workspace/file; touch /workspace/new; sleep 100 & echo');
      if (state !== 'started') await must(service, 'StopSandbox', { sandbox: 'back' });
      if (state === 'archived') await must(service, 'ArchiveSandbox', { sandbox: 'back' });
      const rolled = await rollBack();
      expect(rolled).toMatchObject({ id, state: 'started' });
      expect(rolled['state_reason']).toBeUndefined();
      expect(await run('back', 'cat /workspace/file; ls /workspace; echo $PLACE; pgrep -c sleep')).toBe(
        'before\nfile\nhere\n0\n',
      );
    }
    expect(filesOf(String(id)).filter((name) => name !== 'disk.img' && !/^g\d+$/.test(name))).toEqual([]);
  });

  it('keeps the disk as large as it is by now', async () => {
    await must(service, 'StopSandbox', { sandbox: 'back' });
    await must(service, 'ResizeSandbox', { sandbox: 'back', disk_gb: 2 });
    await must(service, 'RollbackSandbox', { sandbox: 'back', snapshot: 'good' });
    const kilobytes = Number(await run('back', 'df --output=size / | tail -1'));
    expect(kilobytes).toBeGreaterThan(1_500_000);
    expect(await run('back', 'cat /workspace/file')).toBe('before\n');
  });

  it('of an ephemeral sandbox does not end it', async () => {
    await must(service, 'CreateSandbox', { name: 'brief', memory_gb: 1, disk_gb: 1, ephemeral: true });
    await run('brief', 'echo before > /workspace/file');
    await must(service, 'SnapshotSandbox', { sandbox: 'brief', name: 'brief point' });
    await run('brief', 'rm /workspace/file');
    await must(service, 'RollbackSandbox', { sandbox: 'brief', snapshot: 'brief point' });
    expect(await run('brief', 'cat /workspace/file')).toBe('before\n');
    await must(service, 'DeleteSandbox', { sandbox: 'brief' });
    await mustAct(service, 'DeleteSnapshot', { snapshot: 'brief point' });
  });

  it('is refused for what does not fit, and changes nothing', async () => {
    await must(service, 'CreateSandbox', { name: 'small', memory_gb: 1, disk_gb: 1 });
    await run('small', 'echo mine > /workspace/file');
    await must(service, 'SnapshotSandbox', { sandbox: 'back', name: 'large' });
    for (const [snapshot, code, parameter] of [
      ['large', 'invalid_argument', 'snapshot'],
      ['base', 'invalid_argument', 'snapshot'],
      ['nowhere', 'not_found', undefined],
    ]) {
      expect(await call(service, 'RollbackSandbox', { sandbox: 'small', snapshot })).toMatchObject({
        body: { code, ...(parameter === undefined ? {} : { parameter }) },
      });
    }
    const member = await person(service, 'Stranger');
    expect(await call(member, 'RollbackSandbox', { sandbox: 'small', snapshot: 'good' })).toMatchObject({
      body: { code: 'not_found', resource: 'sandbox' },
    });
    expect(await run('small', 'cat /workspace/file')).toBe('mine\n');
    expect(await must(service, 'GetSandbox', { sandbox: 'small' })).toMatchObject({ state: 'started' });
    // A snapshot of another sandbox with the same image and a disk that is no larger fits.
    await must(service, 'RollbackSandbox', { sandbox: 'small', snapshot: 'good' });
    expect(await run('small', 'cat /workspace/file')).toBe('before\n');
    for (const snapshot of ['large']) await mustAct(service, 'DeleteSnapshot', { snapshot });
    await must(service, 'DeleteSandbox', { sandbox: 'small' });
  });

  it('that a kill breaks off is finished by the next start', async () => {
    for (const pauseMs of [15, 150]) {
      await run('back', 'echo after > /workspace/file; sync');
      const rolling = call(service, 'RollbackSandbox', { sandbox: 'back', snapshot: 'good' }).catch(
        () => null,
      );
      await sleep(pauseMs);
      await service.kill();
      await rolling;
      await service.restart();
      await must(service, 'StartSandbox', { sandbox: 'back' });
      expect(await run('back', 'cat /workspace/file')).toMatch(/^(before|after)\n$/);
      await must(service, 'RollbackSandbox', { sandbox: 'back', snapshot: 'good' });
      expect(await run('back', 'cat /workspace/file')).toBe('before\n');
    }
    await must(service, 'DeleteSandbox', { sandbox: 'back' });
    await mustAct(service, 'DeleteSnapshot', { snapshot: 'good' });
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
