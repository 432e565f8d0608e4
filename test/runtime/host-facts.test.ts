import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { findDevice, waitUntilFree } from '../../src/runtime/oci/disk/loop-devices.ts';
import { bundleGeneration } from '../../src/runtime/oci/host/layout.ts';
import { memoryForMachines, memoryOfGroup, parseMeminfo } from '../../src/runtime/oci/host/room.ts';
import { parseRuncState } from '../../src/runtime/oci/machine/running.ts';

const GiB = 1024 ** 3;

const root = mkdtempSync(join(tmpdir(), 'sandhaven-facts-'));
afterAll(() => rmSync(root, { recursive: true }));

it('reads the host’s memory', () => {
  const text = 'MemTotal:       24684096 kB\nMemFree:         1000 kB\nMemAvailable:   23000000 kB\n';
  expect(parseMeminfo(text)).toEqual({ totalBytes: 24684096 * 1024, availableBytes: 23000000 * 1024 });
  expect(() => parseMeminfo('MemTotal: 5 kB')).toThrow('MemAvailable');
});

it('reads the limit of a container’s memory, on cgroup v1 and v2', async () => {
  const put = (group: string, files: Record<string, string>) => {
    mkdirSync(join(root, group));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(root, group, name), text);
  };
  put('v1', {
    'memory.limit_in_bytes': '3000\n',
    'memory.usage_in_bytes': '900\n',
    'memory.stat': 'inactive_file 1\ntotal_inactive_file 400\n',
  });
  put('v2', {
    'memory.max': '5000\n',
    'memory.current': '1200\n',
    'memory.stat': 'anon 7\ninactive_file 200\n',
  });
  put('unlimited', { 'memory.max': 'max\n', 'memory.current': '1200\n' });
  put('root', {});
  put('root-v1', { 'memory.limit_in_bytes': '9223372036854771712\n' });
  const of = (group: string, version: 1 | 2) =>
    memoryOfGroup({ mountpoint: join(root, group), version, controllers: [] });
  expect(of('v1', 1)).toEqual({ totalBytes: 3000, availableBytes: 2500 });
  expect(of('v2', 2)).toEqual({ totalBytes: 5000, availableBytes: 4000 });
  expect(of('unlimited', 2)).toBeNull();
  expect(of('root', 2)).toBeNull();
  expect(of('root-v1', 1)).toBeNull();
});

it('keeps a part of the memory for the host, large or small', () => {
  expect(memoryForMachines(24 * GiB)).toBe(23 * GiB);
  expect(memoryForMachines(2 * GiB)).toBe(1.75 * GiB);
});

const device = (name: string, backing: string | null): void => {
  mkdirSync(join(root, name, 'loop'), { recursive: true });
  if (backing !== null) writeFileSync(join(root, name, 'loop/backing_file'), backing);
};

it('finds the loop device of a disk, of a removed one too', async () => {
  device('loop0', '/data/one.img\n');
  device('loop1', '/data/two with space.img (deleted)\n');
  device('loop2', null);
  device('sda', '/data/three.img\n');
  expect(await findDevice('/data/one.img', root)).toBe('loop0');
  expect(await findDevice('/data/two with space.img', root)).toBe('loop1');
  expect(await findDevice('/data/three.img', root)).toBeNull();
});

describe('a disk is waited for', () => {
  const folder = join(root, 'sandboxes/sb_x');
  const disk = join(folder, 'disk.img');
  const bundle = (name: string, note?: string): string => {
    mkdirSync(join(folder, name), { recursive: true });
    if (note !== undefined) writeFileSync(join(folder, name, 'loop'), note);
    return join(folder, name, 'loop');
  };
  const stillWaits = (): Promise<boolean> =>
    Promise.race([waitUntilFree(disk, root).then(() => false), sleep(100).then(() => true)]);

  it('by the device that its bundle names, whatever other devices there are', async () => {
    bundle('g1', 'loop7');
    // Reading it would fail: nobody asks the kernel about devices of others.
    mkdirSync(join(root, 'loop8/loop/backing_file'), { recursive: true });
    device('loop7', `${disk}\n`);
    expect(await stillWaits()).toBe(true);
    device('loop7', '/data/of-another.img\n');
    await waitUntilFree(disk, root);
    rmSync(join(root, 'loop8'), { recursive: true });
  });

  it('by a search among all of them where a bundle names none, which is made once', async () => {
    const note = bundle('g2');
    device('loop9', `${disk}\n`);
    expect(await stillWaits()).toBe(true);
    expect(readFileSync(note, 'utf8')).toBe('loop9');
    device('loop9', '/data/of-another.img\n');
    await waitUntilFree(disk, root);
  });
});

const state = (pid: unknown, labels: unknown): string =>
  JSON.stringify({ id: 'x', init_process_pid: pid, config: { labels } });

it('reads process and generation from runc’s state', () => {
  expect(parseRuncState(state(17, ['other=1', 'bundle=/data/sandboxes/sb_x/g12']))).toEqual({
    pid: 17,
    generation: 12,
  });
});

it.each(['', '{', 'null', '[]', state('17', ['bundle=/x/g1']), state(17, null), state(17, ['bundle=/x/y'])])(
  'takes a state that is not whole for none: %j',
  (text) => expect(parseRuncState(text)).toBeNull(),
);

it('never fails on a damaged state', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      parseRuncState(text);
    }),
  );
});

it('knows bundles by their names', () => {
  fc.assert(
    fc.property(fc.nat(), (generation) => {
      expect(bundleGeneration(`g${generation}`)).toBe(generation);
    }),
  );
  for (const name of ['g', 'g-1', 'g1x', 'disk.img', 'g1.partial', 'g9999999999999999']) {
    expect(bundleGeneration(name)).toBeNull();
  }
});
