/** What the kernel counts by user: one sandbox takes all that it gets, and the host and another sandbox have theirs. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, must, type Service, startService } from '../support/service.ts';
import { createPrograms, type Programs } from './programs.ts';

/** The greedy sandbox keeps what it has until this file of it is gone. */
const SIGN = '/workspace/has-all';
const KEPT_SECONDS = 30;
const OPENING = 8;
let service: Service;
let programs: Programs;

beforeAll(async () => {
  service = await startService();
  programs = createPrograms(service);
  for (const name of ['greedy', 'modest']) {
    await must(service, 'CreateSandbox', { name, cpu: 1, memory_gb: 1, disk_gb: 2 });
  }
}, 120_000);

afterAll(() => service?.stop());

/** What the others get while the greedy sandbox has as many as it could take. */
async function besideGreed(kind: string, wanted: number, most = 1_000_000): Promise<Record<string, number>> {
  const greed = programs.inside('greedy', 'user-limits', kind, most, KEPT_SECONDS, SIGN);
  await expect.poll(() => hasAll('greedy'), { timeout: 15_000 }).toBe(true);
  const [modest, root, nobody] = await Promise.all([
    programs.inside('modest', 'user-limits', kind, wanted, 0),
    programs.onHost(0, 'user-limits', kind, wanted, 0),
    programs.onHost(65_534, 'user-limits', kind, wanted, 0),
  ]);
  await must(service, 'DeleteFile', { sandbox: 'greedy', path: SIGN });
  return { greedy: Number(await greed), modest: Number(modest), root: Number(root), nobody: Number(nobody) };
}

async function hasAll(sandbox: string): Promise<boolean> {
  const { status } = await call(service, 'ReadFile', { sandbox, path: SIGN });
  return status === 200;
}

describe('one sandbox takes all it gets, and as many as they need are left for the others:', () => {
  it.each([
    { kind: 'inotify', wanted: 50, greedy: 128 },
    { kind: 'queue', wanted: 5, greedy: 9 },
    { kind: 'timer', wanted: 4_000, greedy: 16_384 },
  ])(
    '$kind',
    async ({ kind, wanted, greedy }) => {
      const taken = await besideGreed(kind, wanted);
      expect(taken).toMatchObject({ modest: wanted, root: wanted, nobody: wanted });
      expect(taken['greedy']).toBeGreaterThan(wanted);
      expect(taken['greedy']).toBeLessThanOrEqual(greedy);
    },
    60_000,
  );

  it('slots of asynchronous I/O, of which the host has one number for all: it gets none', async () => {
    const before = readFileSync('/proc/sys/fs/aio-nr', 'utf8');
    expect(Number(await programs.inside('greedy', 'user-limits', 'aio', 100, 0))).toBe(0);
    expect(readFileSync('/proc/sys/fs/aio-nr', 'utf8')).toBe(before);
    expect(Number(await programs.onHost(65_534, 'user-limits', 'aio', 10, 0))).toBe(10);
  });

  it('processes: 1,024 with its threads, all sandboxes together three quarters of the host’s', async () => {
    const taken = await besideGreed('process', 200);
    expect(taken).toMatchObject({ modest: 200, root: 200, nobody: 200 });
    expect(taken['greedy']).toBeLessThanOrEqual(1_024);
    const most = ['pid_max', 'threads-max'].map((name) => number(`/proc/sys/kernel/${name}`));
    const instance = readFileSync(join(service.dataDir, 'instance'), 'utf8').trim();
    const groups = globSync(`/sys/fs/cgroup{,/pids}/sandhaven-${instance}/pids.max`).map((file) =>
      number(file),
    );
    expect(groups).toHaveLength(1);
    for (const group of groups) expect(group).toBeLessThanOrEqual(Math.min(...most) * 0.75);
  }, 60_000);

  it('open files: they cost it memory before the host runs out of them', async () => {
    let over = 0;
    const opening = Array.from({ length: OPENING }, (_, number) =>
      programs
        .inside('greedy', 'user-limits', 'file', 100_000, KEPT_SECONDS, `${SIGN}-${number}`)
        .finally(() => over++),
    );
    // Those that are over were ended for the memory that they took.
    const count = async () => {
      const { body } = await call(service, 'FindFiles', { sandbox: 'greedy', pattern: 'has-all-*' });
      return over + Number(body['total_count'] ?? 0);
    };
    await expect.poll(count, { timeout: 15_000 }).toBeGreaterThanOrEqual(OPENING);
    const fileNr = () => readFileSync('/proc/sys/fs/file-nr', 'utf8').split('\t').map(Number);
    await expect.poll(() => fileNr()[0], { timeout: 10_000 }).toBeGreaterThan(100_000);
    const [, , most = 0] = fileNr();
    const memory = number('/proc/meminfo', /^MemTotal: +(\d+)/m) * 1024;
    expect(most).toBeGreaterThanOrEqual(Math.floor(memory / 128));
    expect(Number(await programs.onHost(65_534, 'user-limits', 'file', 500, 0))).toBe(500);
    expect(Number(await programs.inside('modest', 'user-limits', 'file', 10_000, 0))).toBe(10_000);
    await call(service, 'RunCommand', { sandbox: 'greedy', command: `rm -f ${SIGN}-*` });
    await Promise.all(opening);
  }, 60_000);
});

describe('a slot that is used again', () => {
  it('has all that its last sandbox had taken', async () => {
    for (let round = 0; round < 3; round++) {
      await must(service, 'CreateSandbox', { name: 'next', cpu: 1, memory_gb: 1, disk_gb: 2 });
      const taking = programs.inside('next', 'user-limits', 'inotify', 1_000, KEPT_SECONDS, SIGN);
      await expect.poll(() => hasAll('next'), { timeout: 15_000 }).toBe(true);
      expect(Number(await programs.inside('next', 'user-limits', 'timer', 16_000, 0))).toBe(16_000);
      await must(service, 'DeleteSandbox', { sandbox: 'next' });
      await taking;
    }
    expect(Number(await programs.inside('modest', 'user-limits', 'inotify', 100, 0))).toBe(100);
  }, 60_000);
});

function number(path: string, pattern = /(\d+)/): number {
  return Number(pattern.exec(readFileSync(path, 'utf8'))?.[1]);
}
