/** Against folders that look like cgroup hierarchies, v1 and v2; the real kernel's are used in oci.test.ts. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sharesToWeight } from '../../src/runtime/oci/fairness/processor-groups.ts';
import {
  controllerHierarchy,
  memoryHierarchy,
  parseHierarchies,
} from '../../src/runtime/oci/host/hierarchies.ts';
import { createCgroups } from '../../src/runtime/oci/machine/cgroups.ts';

const GiB = 1024 ** 3;

const id = 'sb_0123456789abcdef';
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sandhaven-cgroups-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const text = (path: string): string => readFileSync(join(root, path), 'utf8');
function folder(path: string, files: Record<string, string> = {}): void {
  mkdirSync(join(root, path), { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(root, path, name), content);
}

describe('on cgroup v2', () => {
  const cgroups = () => createCgroups('test00', [{ mountpoint: root, version: 2, controllers: [] }]);

  beforeEach(() => folder('.', { 'cgroup.controllers': 'cpuset cpu io memory pids\n' }));

  it('holds all machines together below a limit', async () => {
    await cgroups().prepare({ memoryBytes: 5 * GiB, processes: 9_000 });
    expect(text('sandhaven-test00/memory.max')).toBe(String(5 * GiB));
    expect(text('sandhaven-test00/pids.max')).toBe('9000');
  });

  it('lets machines have each controller of the host, as runc does: these files keep the last that is written', async () => {
    await cgroups().prepare({ memoryBytes: GiB, processes: 9_000 });
    expect(text('cgroup.subtree_control')).toBe('+io');
    expect(text('sandhaven-test00/cgroup.subtree_control')).toBe('+io');
  });

  it('fails where it cannot hand on those that limit machines', async () => {
    folder('cgroup.subtree_control');
    await expect(cgroups().prepare({ memoryBytes: GiB, processes: 9_000 })).rejects.toThrow('EISDIR');
  });

  it('knows whether swap can be limited, once it has made the parent', () => {
    expect(cgroups().hasSwapAccounting()).toBe(false);
    folder('sandhaven-test00', { 'memory.swap.max': 'max' });
    expect(cgroups().hasSwapAccounting()).toBe(true);
  });

  it('makes a fence of its own', async () => {
    const made = cgroups();
    await made.prepare({ memoryBytes: GiB, processes: 9_000 });
    const [option, group = ''] = made.fenceArguments();
    expect(option).toBe('--unified-cgroup');
    expect(group).toMatch(/\/sandhaven-test00-helpers\/[0-9a-z]{8}$/);
    expect(existsSync(group)).toBe(true);
    expect(cgroups().fenceArguments()).not.toEqual(made.fenceArguments());
  });

  it('resizes memory, swap and processor time', async () => {
    folder(`sandhaven-test00/${id}`, { 'memory.swap.max': 'max' });
    await cgroups().resize(id, { cpu: 2, memory: 3, disk: 1, gpu: 0 });
    const file = (name: string): string => text(`sandhaven-test00/${id}/${name}`);
    expect(file('memory.max')).toBe(String(3 * GiB));
    expect(file('memory.swap.max')).toContain('0');
    expect(file('cpu.max')).toBe('200000 100000');
    expect(existsSync(join(root, `sandhaven-test00/${id}/cpu.weight`))).toBe(false);
  });

  it('makes nothing before a machine starts: the kernel counts its sockets as its memory', async () => {
    await cgroups().admit(id);
    expect(existsSync(join(root, 'sandhaven-test00'))).toBe(false);
    expect(cgroups().shown(id)).toEqual([]);
  });

  it('finds processes and machines by their groups', async () => {
    folder(`sandhaven-test00/${id}`, { 'cgroup.procs': '12\n345\n' });
    folder('sandhaven-test00/not-a-sandbox');
    expect(await cgroups().processes(id)).toEqual([12, 345]);
    expect(await cgroups().processes('sb_ffffffffffffffff')).toEqual([]);
    expect(await cgroups().ids()).toEqual([id]);
  });
});

describe('on cgroup v1', () => {
  const cgroups = () =>
    createCgroups('test00', [
      { mountpoint: join(root, 'memory'), version: 1, controllers: ['memory'] },
      { mountpoint: join(root, 'cpu'), version: 1, controllers: ['cpu', 'cpuacct'] },
      { mountpoint: join(root, 'freezer'), version: 1, controllers: ['freezer'] },
      { mountpoint: join(root, 'pids'), version: 1, controllers: ['pids'] },
    ]);

  it('has machines begin with the processors of all of them, so that none is given its own', async () => {
    folder('cpuset', { 'cpuset.cpus': '0-3\n', 'cpuset.mems': '0\n' });
    const none = { 'cpuset.cpus': '\n', 'cpuset.mems': '\n' };
    folder('cpuset/sandhaven-test00', { ...none, 'cgroup.clone_children': '0\n' });
    const hierarchies = ['memory', 'cpuset'].map((name) => {
      return { mountpoint: join(root, name), version: 1 as const, controllers: [name] };
    });
    await createCgroups('test00', hierarchies).prepare({ memoryBytes: GiB, processes: 9_000 });
    const file = (name: string) => text(`cpuset/sandhaven-test00/${name}`).trim();
    expect(file('cgroup.clone_children')).toBe('1');
    expect([file('cpuset.cpus'), file('cpuset.mems')]).toEqual(['0-3', '0']);
  });

  it('knows whether swap can be limited', () => {
    expect(cgroups().hasSwapAccounting()).toBe(false);
    folder('memory', { 'memory.memsw.limit_in_bytes': '0' });
    expect(cgroups().hasSwapAccounting()).toBe(true);
  });

  it('puts the fence where a group can be frozen', async () => {
    const made = cgroups();
    await made.prepare({ memoryBytes: GiB, processes: 9_000 });
    const [option, list] = made.fenceArguments();
    expect(option).toBe('--cgroup');
    expect(list).toContain(join(root, 'freezer', 'sandhaven-test00-helpers'));
    expect(list).toMatch(/\/tasks$/);
  });

  it('removes the fences of earlier boots wherever they were', async () => {
    folder('memory/sandhaven-test00-helpers/earlier');
    await cgroups().prepare({ memoryBytes: GiB, processes: 9_000 });
    expect(existsSync(join(root, 'memory/sandhaven-test00-helpers/earlier'))).toBe(false);
  });

  it('keeps the buffers of sockets within what all machines have together, a sixteenth of it', async () => {
    folder('memory/sandhaven-test00', { 'memory.kmem.tcp.limit_in_bytes': '' });
    await cgroups().prepare({ memoryBytes: 16 * GiB, processes: 9_000 });
    expect(text('memory/sandhaven-test00/memory.limit_in_bytes')).toBe(String(15 * GiB));
    expect(text('memory/sandhaven-test00/memory.kmem.tcp.limit_in_bytes')).toBe(String(GiB));
    expect(text('pids/sandhaven-test00/pids.max')).toBe('9000');
  });

  it('limits the buffers of a machine of any size to 64 MiB before it starts, and when it is resized', async () => {
    const file = `memory/sandhaven-test00/${id}/memory.kmem.tcp.limit_in_bytes`;
    const sized = { cpu: 1, memory: 64, disk: 1, gpu: 0 };
    for (const limit of [() => cgroups().admit(id), () => cgroups().resize(id, sized)]) {
      folder(`memory/sandhaven-test00/${id}`, { 'memory.kmem.tcp.limit_in_bytes': '' });
      folder(`cpu/sandhaven-test00/${id}`);
      await limit();
      expect(text(file)).toBe('67108864');
    }
  });

  it('makes the groups that a machine sees of itself before it starts', async () => {
    await cgroups().admit(id);
    const group = (name: string) => ({ name, path: join(root, name, 'sandhaven-test00', id) });
    expect(cgroups().shown(id)).toEqual([group('memory'), group('cpu'), group('pids')]);
    for (const { path } of cgroups().shown(id)) expect(existsSync(path)).toBe(true);
  });

  it('resizes memory and processor time in their hierarchies', async () => {
    const limit = { 'memory.limit_in_bytes': String(GiB), 'memory.memsw.limit_in_bytes': String(GiB) };
    folder(`memory/sandhaven-test00/${id}`, limit);
    folder(`cpu/sandhaven-test00/${id}`);
    await cgroups().resize(id, { cpu: 4, memory: 2, disk: 1, gpu: 0 });
    expect(text(`memory/sandhaven-test00/${id}/memory.limit_in_bytes`)).toBe(String(2 * GiB));
    expect(text(`memory/sandhaven-test00/${id}/memory.memsw.limit_in_bytes`)).toBe(String(2 * GiB));
    expect(text(`cpu/sandhaven-test00/${id}/cpu.cfs_quota_us`)).toBe('400000');
    expect(existsSync(join(root, `cpu/sandhaven-test00/${id}/cpu.shares`))).toBe(false);
  });

  it('lets what it kills end at once, whatever part of a processor the machine had', async () => {
    folder(`cpu/sandhaven-test00/${id}`, { 'cpu.cfs_quota_us': '10' });
    folder(`memory/sandhaven-test00/${id}`, { 'cgroup.procs': '' });
    expect(await cgroups().empty(id)).toBe(true);
    expect(text(`cpu/sandhaven-test00/${id}/cpu.cfs_quota_us`)).toBe('-1');
  });
});

describe('the hierarchies of a host', () => {
  const line = (device: string, path: string, type: string, options: string): string =>
    `30 23 ${device} / ${path} rw,nosuid shared:9 - ${type} cgroup ${options}`;

  it('are one on v2', () => {
    const found = parseHierarchies(line('0:26', '/sys/fs/cgroup', 'cgroup2', 'rw,nsdelegate'));
    expect(found).toEqual([{ mountpoint: '/sys/fs/cgroup', version: 2, controllers: [] }]);
    expect(memoryHierarchy(found)).toBe(found[0]);
    expect(controllerHierarchy(found, 'cpu')).toBe(found[0]);
  });

  it('are several on v1, each counted once, with an empty v2 beside them', () => {
    const found = parseHierarchies(
      [
        line('0:1', '/', 'ext4', 'rw'),
        line('0:30', '/sys/fs/cgroup/cpu,cpuacct', 'cgroup', 'rw,cpu,cpuacct'),
        line('0:30', '/elsewhere', 'cgroup', 'rw,cpu,cpuacct'),
        line('0:31', '/sys/fs/cgroup/memory', 'cgroup', 'rw,memory'),
        line('0:32', '/sys/fs/cgroup/systemd', 'cgroup', 'rw,xattr,name=systemd'),
        line('0:33', '/sys/fs/cgroup/unified', 'cgroup2', 'rw'),
        '',
      ].join('\n'),
    );
    expect(found.map(({ mountpoint, controllers }) => [mountpoint, ...controllers])).toEqual([
      ['/sys/fs/cgroup/cpu,cpuacct', 'cpu', 'cpuacct'],
      ['/sys/fs/cgroup/memory', 'memory'],
      ['/sys/fs/cgroup/systemd', 'name=systemd'],
      ['/sys/fs/cgroup/unified'],
    ]);
    expect(memoryHierarchy(found)?.mountpoint).toBe('/sys/fs/cgroup/memory');
    expect(controllerHierarchy(found, 'freezer')).toBeNull();
  });

  it('refuse a host that cannot limit memory', () => {
    expect(() => createCgroups('test00', [])).toThrow('memory');
  });
});

it.each([
  [2, 1],
  [1024, 39],
  [16_384, 625],
  [262_144, 10_000],
])('%i shares are a weight of %i', (shares, weight) => {
  expect(sharesToWeight(shares)).toBe(weight);
});
