/** Limits of a sandbox on cgroup v2, as the kernel says that it enforces them. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { must } from '../support/service.ts';
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

describe('on cgroup v2', () => {
  it('memory ends the program that takes too much, and nothing else', async () => {
    expect(await file('memory.max')).toBe(String(1024 ** 3));
    expect(await file('memory.swap.max')).toBe('0');
    await inside('setsid -f sleep 3600 >/dev/null 2>&1');
    expect(await inside('python3 -c "bytearray(2 * 1024 ** 3)"')).toMatchObject({ exit_code: 137 });
    expect(await count('memory.events', 'oom_kill')).toBeGreaterThan(0);
    expect(await inside('pgrep --count sleep')).toMatchObject({ stdout: '1\n' });
    // The kernel of the host had no reason to end a program of its own.
    expect(await installed.machine.must('journalctl -k --no-pager | grep -c "Out of memory:" || true')).toBe(
      '0\n',
    );
  });

  it('processors are held to the quota', async () => {
    expect(await file('cpu.max')).toBe('100000 100000');
    const before = await count('cpu.stat', 'nr_throttled');
    await inside('timeout 5 sh -c "while :; do :; done & while :; do :; done"; true');
    expect(await count('cpu.stat', 'nr_throttled')).toBeGreaterThan(before);
  });

  it('processes end at their number', async () => {
    const code =
      'import os\nn=0\ntry:\n  while True:\n    if os.fork()==0: os.read(0,1) or os._exit(0)\n    n+=1\nexcept OSError as e: print(e.errno)';
    await tool('WriteFile', { sandbox: 'it', path: 'fork.py', content: code });
    expect(await inside('sleep 60 | timeout 200 python3 fork.py; true')).toMatchObject({
      stdout: expect.stringContaining('11'),
    });
    expect(await count('pids.events', 'max')).toBeGreaterThan(0);
    expect(await inside('echo still here')).toMatchObject({ stdout: 'still here\n' });
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
