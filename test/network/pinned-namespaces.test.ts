/** The launcher makes the namespaces of slots, also where the host or a container gives it less than usual. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { launcherPath } from './harness.ts';

const run = promisify(execFile);
const UID_BASE = 3_000_000_000;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sandhaven-pinned-'));
});

afterEach(async () => {
  for (const kind of ['user', 'net']) await run('umount', [join(folder, kind)]).catch(() => {});
  await rm(folder, { recursive: true });
});

/** @param around A program that runs the launcher with less. */
const pin = (...around: [string, ...string[]]) => {
  const [program, ...flags] = around;
  const namespaces = ['--user', join(folder, 'user'), '--net', join(folder, 'net')];
  const pinning = [launcherPath, 'pin-namespaces', '--uid-base', String(UID_BASE), ...namespaces];
  return run(program, [...flags, ...pinning]);
};

const LOW = ['--sigpending=1000:1000', '--msgqueue=65536:65536'] as const;
const NEVER_MORE = ['--bounding-set', '-sys_resource'] as const;

it('where the limits of the process are lower than theirs, and may not be raised', async () => {
  await pin('setpriv', ...NEVER_MORE, 'prlimit', ...LOW);
  const inside = [`--user=${join(folder, 'user')}`, `--net=${join(folder, 'net')}`];
  const { stdout } = await run('nsenter', [...inside, 'id', '-u']);
  expect(stdout).toBe('0\n');
});

it('and says what it was refused', async () => {
  await expect(pin('setpriv', '--bounding-set', '-setuid')).rejects.toMatchObject({
    code: 120,
    stderr: expect.stringContaining('its user: Operation not permitted'),
  });
});
