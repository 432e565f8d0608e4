import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryHierarchy, parseHierarchies } from '../../src/runtime/oci/host/hierarchies.ts';
import {
  kernelThreads,
  slotsInDelegations,
  slotsWithProcesses,
  slotsWithStrangers,
} from '../../src/runtime/oci/host/host-ids.ts';
import { takeLocks } from '../../src/runtime/oci/host/locks.ts';
import { createPool } from '../../src/runtime/oci/network/pool.ts';
import { createTestHost, type Instance, inside, type TestHost } from './harness.ts';
import { locksOf, machineProcess, traces } from './traces.ts';

const SLOTS = 16_384;

let host: TestHost;

beforeAll(async () => {
  host = await createTestHost();
});

afterAll(() => host?.[Symbol.asyncDispose]());

const sandbox = (number: number) => `sb_${String(number).padStart(16, '0')}`;

async function started(options: object = {}): Promise<Instance> {
  const instance = host.start(options);
  await instance.init();
  return instance;
}

describe('acquire', () => {
  it('takes ready slots while there are some, and makes none for it', async () => {
    const instance = await started({ poolSize: 4 });
    const ready = locksOf(instance.id);
    const taken = [];
    for (const number of [1, 2, 3, 4]) taken.push((await instance.acquire(sandbox(number))).index);
    expect(new Set(taken).size).toBe(4);
    expect(taken.filter((index) => !ready.includes(index))).toEqual([]);
    await instance.purge();
  });

  it('gives a sandbox one slot, however often and however fast it asks', async () => {
    const instance = await started({ poolSize: 0 });
    const [first, second] = await Promise.all([instance.acquire(sandbox(1)), instance.acquire(sandbox(1))]);
    expect(second).toEqual(first);
    expect(await instance.get(sandbox(1))).toEqual(first);
    expect(await instance.held()).toEqual([sandbox(1)]);
    expect(await instance.get(sandbox(2))).toBeNull();
    await instance.purge();
  });

  it('never gives two of 40 sandboxes in two instances anything in common', async () => {
    const instances = await Promise.all([started(), started()]);
    const slots = await Promise.all(
      instances.flatMap((instance) => Array.from({ length: 20 }, (_, i) => instance.acquire(sandbox(i)))),
    );
    for (const key of ['index', 'uidBase', 'address', 'hostInterface', 'netNamespacePath'] as const) {
      expect(new Set(slots.map((slot) => slot[key])).size, key).toBe(40);
    }
    expect(new Set(slots.map((slot) => slot.gateway)).size).toBe(2);
    const bases = slots.map((slot) => slot.uidBase).sort((a, b) => a - b);
    for (const [i, base] of bases.entries())
      expect(base - (bases[i - 1] ?? 0)).toBeGreaterThanOrEqual(65_536);
    await Promise.all(instances.map((instance) => instance.purge()));
  });

  it('gives no slot whose ids are delegated to a user of the host', () => {
    const table = 'a:100000:65536\n# c\nb:200000:1\nc:330000:65536\nd:1:4294967295 x\nbad\ne:0:0\n';
    expect(slotsInDelegations(table)).toEqual([0, 1, 2]);
    expect(slotsInDelegations('all:1:4294967295').length).toBe(SLOTS);
  });

  it('rejects with resource_exhausted when the host has no slot left, and works again when it has', async () => {
    const all = new Set(Array.from({ length: SLOTS }, (_, index) => index));
    expect(takeLocks({ id: 'zzzzzz', runDir: '/run', dataDir: '/run' }, 3, 'machine', all)).toEqual([]);
    let left = [7];
    const pool = createPool(0, async () => left.splice(0), console);
    expect(await pool.take()).toBe(7);
    await expect(pool.take()).rejects.toMatchObject({ code: 'resource_exhausted' });
    left = [8];
    expect(await pool.take()).toBe(8);
    expect(await pool.close()).toEqual([]);
  });
});

describe('the namespaces of a slot', () => {
  it('map 65,536 ids from the slot’s base and nothing else', async () => {
    const instance = await started();
    const slot = await instance.acquire(sandbox(1));
    const run = host.run(
      'nsenter',
      `--user=${slot.userNamespacePath}`,
      'cat',
      '/proc/self/uid_map',
      '/proc/self/gid_map',
    );
    const line = ['0', String(slot.uidBase), '65536'];
    expect((await run).trim().split(/\s+/)).toEqual([...line, ...line]);
    await instance.purge();
  });

  it('with the network none have nothing but loopback, and no address is taken', async () => {
    const before = await traces(host);
    const instance = await started({ network: 'none' });
    const slot = await instance.acquire(sandbox(1));
    expect(slot).toMatchObject({ address: '', gateway: '', hostInterface: '' });
    const links = JSON.parse(await inside(slot).run('ip', '-json', 'address'));
    expect(links.map((link: { ifname: string; operstate: string }) => link.ifname)).toEqual(['lo']);
    expect(links[0].flags).toContain('UP');
    expect(await traces(host)).toBe(before);
    await instance.purge();
  });
});

describe('release', () => {
  it('makes namespaces anew: nothing of the last machine is in the next', async () => {
    const instance = await started({ poolSize: 0 });
    await inside(await instance.acquire(sandbox(1))).run('ip', 'address', 'add', '10.9.9.9/32', 'dev', 'lo');
    await instance.release(sandbox(1));
    await expect.poll(() => locksOf(instance.id).length).toBe(1);
    const next = await instance.acquire(sandbox(2));
    expect(await inside(next).run('ip', 'address')).not.toContain('10.9.9.9');
    await instance.purge();
  });

  it('keeps a slot from being used while any process has its ids', async () => {
    const instance = await started({ poolSize: 0 });
    const slot = await instance.acquire(sandbox(1));
    using process = machineProcess(slot);
    await once(process.child.stdout, 'data');
    await instance.release(sandbox(1));
    await expect.poll(() => existsSync(slot.netNamespacePath)).toBe(false);
    await sleep(600);
    expect(locksOf(instance.id)).toContain(slot.index);
    expect((await instance.acquire(sandbox(2))).index).not.toBe(slot.index);
    process.child.kill('SIGKILL');
    await expect.poll(() => locksOf(instance.id), { timeout: 5_000 }).not.toContain(slot.index);
    await instance.purge();
  });

  it('lets go of a slot whose last process nobody reaps, as in a container without an init', async () => {
    const instance = await started({ poolSize: 0 });
    const slot = await instance.acquire(sandbox(1));
    // No shell: it reaps a child that ends before its next command. This parent never does.
    const program = [
      'import os, sys, time',
      'pid = os.fork()',
      'if pid == 0: os.execvp("nsenter", ["nsenter", "--user=" + sys.argv[1], "true"])',
      'print(pid, flush=True)',
      'time.sleep(60)',
    ];
    const parent = spawn('python3', ['-c', program.join('\n'), slot.userNamespacePath]);
    const [pid] = await once(parent.stdout, 'data');
    try {
      await expect.poll(() => stateOf(Number(pid))).toBe('Z');
      await instance.release(sandbox(1));
      await expect.poll(() => locksOf(instance.id), { timeout: 5_000 }).not.toContain(slot.index);
      await instance.purge();
    } finally {
      parent.kill('SIGKILL');
    }
  });

  it('keeps it while a thread lives on after its process has ended', async () => {
    const instance = await started({ poolSize: 0 });
    const slot = await instance.acquire(sandbox(1));
    const code =
      'import ctypes, threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()\n' +
      'ctypes.CDLL(None).syscall(60, 0)';
    const child = spawn('nsenter', [`--user=${slot.userNamespacePath}`, 'python3', '-c', code]);
    try {
      await expect.poll(() => stateOf(child.pid ?? 0)).toBe('Z');
      await instance.release(sandbox(1));
      await sleep(600);
      expect(locksOf(instance.id)).toContain(slot.index);
    } finally {
      child.kill('SIGKILL');
    }
    await expect.poll(() => locksOf(instance.id), { timeout: 5_000 }).not.toContain(slot.index);
    await instance.purge();
  });

  it('looks at no process of a machine to find strangers', async () => {
    const instance = await started({ poolSize: 0 });
    const slot = await instance.acquire(sandbox(1));
    using process = machineProcess(slot);
    await once(process.child.stdout, 'data');
    expect((await slotsWithStrangers()).has(slot.index)).toBe(true);
    const memory = memoryHierarchy(parseHierarchies(readFileSync('/proc/self/mountinfo', 'utf8')));
    const group = `${memory?.mountpoint}/sandhaven-${instance.id}/${sandbox(1)}`;
    mkdirSync(group, { recursive: true });
    try {
      writeFileSync(`${group}/cgroup.procs`, String(process.child.pid));
      expect((await slotsWithStrangers()).has(slot.index)).toBe(false);
      expect((await slotsWithProcesses()).has(slot.index)).toBe(true);
      await instance.release(sandbox(1));
      await expect.poll(() => locksOf(instance.id), { timeout: 5_000 }).not.toContain(slot.index);
    } finally {
      const exited = once(process.child, 'exit');
      process.child.kill('SIGKILL');
      await exited;
      rmdirSync(group);
      rmdirSync(dirname(group));
    }
    await instance.purge();
  });
});

/** In a container only its own processes are in sight. */
const seesKernel = existsSync('/proc/2/comm') && readFileSync('/proc/2/comm', 'utf8') === 'kthreadd\n';

it('knows threads of the kernel, and takes no program for one', () => {
  const threads = kernelThreads();
  if (seesKernel) expect(threads.size).toBeGreaterThan(10);
  for (const pid of threads) expect(existsSync(`/proc/${pid}/exe`)).toBe(false);
  for (const program of [process.pid, process.ppid, 1]) expect(threads.has(String(program))).toBe(false);
});

function stateOf(pid: number): string {
  return /^State:\s+(\S)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '';
}
