/** A copy of a data directory has the instance id of the first: it gets no hand on the first one's machines. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { tracesOf } from '../support/host.ts';
import { bin, freeAddresses, must, type Service, startService } from '../support/service.ts';

let first: Service;
const parent = mkdtempSync(join(tmpdir(), 'sandhaven-copy-'));
const copy = join(parent, 'copy');

beforeAll(async () => {
  first = await startService();
  await must(first, 'CreateSandbox', { name: 'kept', disk_gb: 1 });
  // With the base image, which is a link in both.
  execFileSync('cp', ['--archive', '--sparse=always', first.dataDir, copy]);
}, 120_000);

afterAll(async () => {
  await first?.stop();
  rmSync(parent, { recursive: true, force: true });
});

function startCopy() {
  return spawnSync(bin, ['up', '--data-dir', copy, ...freeAddresses], { encoding: 'utf8', timeout: 30_000 });
}

it('is refused beside the running service, which goes on creating', async () => {
  const { status, stderr } = startCopy();
  expect(status).toBe(5);
  expect(stderr).toContain("A running service has this data directory's instance id");
  expect(stderr).toContain(`delete ${join(copy, 'instance')}`);
  expect(stderr).not.toMatch(/^\s+at /m);
  await must(first, 'CreateSandbox', { name: 'another', disk_gb: 1 });
  expect((await must(first, 'RunCommand', { sandbox: 'kept', command: 'echo on' }))['stdout']).toBe('on\n');
  expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
}, 60_000);

it('is refused, for a purge too, while the first is stopped, whose machines go on', async () => {
  await first.terminate();
  const machines = (await tracesOf(first.dataDir)).processes;
  expect(machines.length).toBe(2);
  for (const { status, stderr } of [
    startCopy(),
    spawnSync(bin, ['purge', '--data-dir', copy, '--yes'], { encoding: 'utf8', timeout: 30_000 }),
  ]) {
    expect(status).toBe(5);
    expect(stderr).toContain(`The data directory ${first.dataDir} has this data directory's instance id`);
  }
  expect((await tracesOf(first.dataDir)).processes).toEqual(machines);
}, 60_000);

it('lives on its own once its instance id is deleted', async () => {
  rmSync(join(copy, 'instance'));
  const second = await startService({ dataDir: copy });
  try {
    expect(await must(second, 'GetSandbox', { sandbox: 'kept' })).toMatchObject({ state: 'stopped' });
    await must(second, 'StartSandbox', { sandbox: 'kept' });
    expect((await tracesOf(first.dataDir)).processes.length).toBe(2);
  } finally {
    await second.stop();
  }
}, 60_000);
