/** The short form: the package is installed by apt on Debian 13, used, and still works after a power cut. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { noTraces } from '../support/host.ts';
import { must } from '../support/service.ts';
import { describeBothRuntimes } from './support/both-runtimes.ts';
import { describeEverydayUse } from './support/everyday-use.ts';
import { describeHardLimits } from './support/hard-limits.ts';
import { type Installed, installPackage } from './support/installed.ts';
import { startMachine } from './support/machine.ts';

let installed: Installed;

beforeAll(async () => {
  const machine = await startMachine('trixie', inject('machinePayload'));
  installed = await installPackage(machine).catch(async (error: unknown) => {
    await machine.close();
    throw error;
  });
});

afterAll(() => installed?.machine.close());

const tool = (name: string, parameters: Record<string, unknown>) => must(installed.service, name, parameters);

describe('the package', () => {
  it('runs on the unified hierarchy alone, and shows that it works', async () => {
    const hierarchy = await installed.machine.must('stat --file-system --format %T /sys/fs/cgroup');
    expect(hierarchy).toBe('cgroup2fs\n');
    expect(await installed.sandhaven('prove')).toMatch(/It works: sandbox created in \d+ ms/);
  });
});

describeEverydayUse(() => installed);
describeHardLimits(() => installed);
describeBothRuntimes(() => installed);

describe('after a power cut', () => {
  let id: string;

  beforeAll(async () => {
    id = String((await tool('CreateSandbox', { name: 'cut', cpu: 1, memory_gb: 1, disk_gb: 1 }))['id']);
    await tool('CreateSandbox', { name: 'passes', cpu: 1, memory_gb: 1, disk_gb: 1, ephemeral: true });
    await tool('WriteFile', { sandbox: 'cut', path: 'kept.txt', content: 'kept', durable: true });
    await installed.machine.must('echo not > /srv/not-flushed');
    await installed.machine.powerCut();
    await installed.machine.boot();
    await installed.ready();
  });

  it('what the machine had not flushed is lost', async () => {
    expect(await installed.machine.must('cat /srv/not-flushed || echo lost')).not.toContain('not');
  });

  it('a sandbox is stopped, an ephemeral one is gone, and nothing is orphaned', async () => {
    await expect
      .poll(async () => (await installed.traces()).folders, { timeout: 120_000, interval: 1_000 })
      .toEqual([id]);
    const { sandboxes } = await tool('ListSandboxes', {});
    expect(sandboxes).toMatchObject([{ id, state: 'stopped' }]);
  });

  it('its durable file is there', async () => {
    await tool('StartSandbox', { sandbox: 'cut' });
    expect(await tool('ReadFile', { sandbox: 'cut', path: 'kept.txt' })).toMatchObject({ content: 'kept' });
    await tool('DeleteSandbox', { sandbox: 'cut' });
    expect(await installed.traces()).toEqual(noTraces);
  });
});
