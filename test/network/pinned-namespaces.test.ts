/** The launcher makes the namespaces of slots, also where the host or a container gives it less than usual. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
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

it('and they are unpinned with the links that are there', async () => {
  await pin('env');
  const pins = ['user', 'net'].map((kind) => join(folder, kind));
  const mounted = async () => (await run('findmnt', ['--noheadings', '--type', 'nsfs'])).stdout;
  expect(await mounted()).toContain(folder);
  await run('ip', ['link', 'add', 'shunpinned', 'type', 'veth', 'peer', 'name', 'shpeer']);
  const links = ['--link', 'shunpinned', '--link', 'shnever'];
  await run(launcherPath, ['unpin-namespaces', ...links, ...pins]);
  await run(launcherPath, ['unpin-namespaces', ...links, ...pins]);
  expect(await mounted().catch(() => '')).not.toContain(folder);
  await expect(run('ip', ['link', 'show', 'shunpinned'])).rejects.toThrow('does not exist');
});

it('a folder of slots becomes a mount once, unless it has pins', async () => {
  const own = (path: string) => run(launcherPath, ['slots-folder', path]);
  const mounts = async () =>
    (await run('findmnt', ['--noheadings', '--output', 'TARGET,PROPAGATION'])).stdout;
  const slots = join(folder, 'slots');
  await mkdir(join(slots, '1'), { recursive: true });
  await writeFile(join(slots, 'owner'), '');
  await own(slots);
  await own(slots);
  expect((await mounts()).match(new RegExp(`${slots} +private`, 'g'))).toHaveLength(1);
  await run(launcherPath, ['unpin-namespaces', '--folder', slots]);
  await run(launcherPath, ['unpin-namespaces', '--folder', slots]);
  expect(await mounts()).not.toContain(slots);

  const namespaces = ['--user', join(slots, '1/user'), '--net', join(slots, '1/net')];
  await run(launcherPath, ['pin-namespaces', '--uid-base', String(UID_BASE), ...namespaces]);
  await own(slots);
  expect(await mounts()).not.toMatch(new RegExp(`${slots} `));
  await run(launcherPath, ['unpin-namespaces', join(slots, '1/user'), join(slots, '1/net')]);
});

it('the starts of machines see no pins', async () => {
  await pin('env');
  const spawner = spawn(launcherPath, ['spawner'], { stdio: ['pipe', 'ignore', 'ignore'] });
  const descriptors = `/proc/${spawner.pid}/fd`;
  // The first is the stage's, and the other is empty (`isolation/runtimes/below-root.test.ts`).
  const mounts = await vi.waitFor(async () => {
    const names = (await readdir(descriptors)).sort((one, other) => Number(one) - Number(other));
    const links = names.map(async (name) => {
      const target = await readlink(join(descriptors, name)).catch(() => '');
      return target.startsWith('mnt:') ? [join(descriptors, name)] : [];
    });
    const found = (await Promise.all(links)).flat();
    expect(found).toHaveLength(2);
    return found[0];
  });
  const seen = (...words: string[]) => run('nsenter', [`--mount=${mounts}`, 'findmnt', '-n', ...words]);
  expect((await run('findmnt', ['-n', '-t', 'nsfs'])).stdout).toContain(folder);
  expect(await seen('-t', 'nsfs').catch(({ stdout }) => ({ stdout }))).toMatchObject({ stdout: '' });
  expect((await seen('-o', 'TARGET', '/proc')).stdout).toBe('/proc\n');
  const ended = once(spawner, 'exit');
  spawner.stdin?.end();
  expect(await ended).toEqual([0, null]);
});

it('and says what it was refused', async () => {
  await expect(pin('setpriv', '--bounding-set', '-setuid')).rejects.toMatchObject({
    code: 120,
    stderr: expect.stringContaining('its user: Operation not permitted'),
  });
});
