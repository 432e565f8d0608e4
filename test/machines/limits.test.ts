/** Limits of a sandbox on cgroup v2, as the kernel says that it enforces them. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { must } from '../support/service.ts';
import { describeHardLimits } from './support/hard-limits.ts';
import { type Installed, startInstalled } from './support/installed.ts';

let installed: Installed;
let group: string;

beforeAll(async () => {
  installed = await startInstalled(inject('machinePayload'));
  const { id } = await tool('CreateSandbox', { name: 'it', cpu: 1, memory_gb: 1, disk_gb: 1 });
  group = (await installed.machine.must(`ls --directory /sys/fs/cgroup/sandhaven-*/${id}`)).trim();
});

afterAll(() => installed?.machine.close());

const tool = (name: string, parameters: Record<string, unknown>) => must(installed.service, name, parameters);
const inside = (command: string) => tool('RunCommand', { sandbox: 'it', command, timeout_seconds: 300 });
const file = async (name: string) => (await installed.machine.must(`cat ${group}/${name}`)).trim();
const count = async (name: string, field: string) =>
  Number(new RegExp(`^${field} (\\d+)$`, 'm').exec(await file(name))?.[1]);

describeHardLimits(() => installed);

describe('on cgroup v2', () => {
  it('processors are held to the quota', async () => {
    expect(await file('cpu.max')).toBe('100000 100000');
    const before = await count('cpu.stat', 'nr_throttled');
    await inside('timeout 5 sh -c "while :; do :; done & while :; do :; done"; true');
    expect(await count('cpu.stat', 'nr_throttled')).toBeGreaterThan(before);
  });

  it('the disk ends inside, and not for the host', async () => {
    const before = await installed.machine.must('df --output=size /srv | tail -1');
    expect(
      await inside('fallocate -l 3G big 2>&1; head -c 3G /dev/zero > big 2>&1; echo $?; rm -f big'),
    ).toMatchObject({
      stdout: expect.stringMatching(/No space left[\s\S]*1\n$/),
    });
    expect(await installed.machine.must('df --output=size /srv | tail -1')).toBe(before);
    expect(await inside('echo room > again && cat again')).toMatchObject({ stdout: 'room\n' });
  });

  it('a live resize changes what the kernel enforces', async () => {
    await tool('ResizeSandbox', { sandbox: 'it', cpu: 2, memory_gb: 2 });
    expect(await file('memory.max')).toBe(String(2 * 1024 ** 3));
    expect(await file('cpu.max')).toBe('200000 100000');
    expect(await inside('nproc')).toMatchObject({ stdout: '2\n' });
  });
});
