/** Limits that keep a sandbox from taking the host's memory or processes, on cgroup v2, as the kernel says that it enforces them. */
import { beforeAll, describe, expect, it } from 'vitest';
import { must } from '../../support/service.ts';
import type { Installed } from './installed.ts';

/** @param on The machine, once it is there. */
export function describeHardLimits(on: () => Pick<Installed, 'machine' | 'service'>): void {
  const tool = (name: string, parameters: Record<string, unknown>) => must(on().service, name, parameters);
  const inside = (command: string) =>
    tool('RunCommand', { sandbox: 'bounded', command, timeout_seconds: 300 });
  const file = async (name: string) => (await on().machine.must(`cat ${group}/${name}`)).trim();
  const count = async (name: string, field: string) =>
    Number(new RegExp(`^${field} (\\d+)$`, 'm').exec(await file(name))?.[1]);
  let group: string;

  describe('a sandbox that takes all it can', () => {
    beforeAll(async () => {
      const { id } = await tool('CreateSandbox', { name: 'bounded', cpu: 1, memory_gb: 1, disk_gb: 1 });
      group = (await on().machine.must(`ls --directory /sys/fs/cgroup/sandhaven-*/${id}`)).trim();
    });

    it('memory ends the program that takes too much, and nothing else', async () => {
      expect(await file('memory.max')).toBe(String(1024 ** 3));
      expect(await file('memory.swap.max')).toBe('0');
      await inside('setsid -f sleep 3600 >/dev/null 2>&1');
      expect(await inside('python3 -c "bytearray(2 * 1024 ** 3)"')).toMatchObject({ exit_code: 137 });
      expect(await count('memory.events', 'oom_kill')).toBeGreaterThan(0);
      expect(await inside('pgrep --count sleep')).toMatchObject({ stdout: '1\n' });
      // The kernel of the host had no reason to end a program of its own.
      expect(await on().machine.must('journalctl -k --no-pager | grep -c "Out of memory:" || true')).toBe(
        '0\n',
      );
    });

    it('processes end at their number', async () => {
      // Its children end with it: their pipe does.
      const code = [
        'import os',
        'reads, writes = os.pipe()',
        'try:',
        '  while True:',
        '    if os.fork() == 0: os.close(writes); os.read(reads, 1); os._exit(0)',
        'except OSError as e: print(e.errno)',
      ].join('\n');
      await tool('WriteFile', { sandbox: 'bounded', path: 'fork.py', content: code });
      expect(await inside('timeout 200 python3 fork.py; true')).toMatchObject({
        stdout: expect.stringContaining('11'),
      });
      expect(await count('pids.events', 'max')).toBeGreaterThan(0);
      expect(Number(await file('pids.peak'))).toBeLessThanOrEqual(1024);
      expect(await inside('echo still here')).toMatchObject({ stdout: 'still here\n' });
    });

    it('goes without a trace', async () => {
      await tool('DeleteSandbox', { sandbox: 'bounded' });
      const isThere = async () => (await on().machine.run(`ls ${group}`)).status === 0;
      // It waits for a quiet time.
      await expect.poll(isThere, { timeout: 30_000 }).toBe(false);
    });
  });
}
