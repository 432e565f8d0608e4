import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../src/model/limits.ts';
import { slotsInDelegations } from '../../src/runtime/oci/network/host-ids.ts';
import { takeLocks } from '../../src/runtime/oci/network/locks.ts';
import { uidBaseOf } from '../../src/runtime/oci/network/plan.ts';
import { createPool } from '../../src/runtime/oci/network/pool.ts';
import type { Slot } from '../../src/runtime/oci/slot.ts';
import {
  createTestHost,
  type Instance,
  inside,
  locksOf,
  publicAddress,
  runDirOf,
  type TestHost,
} from './harness.ts';
import { connectTcp, openConnection, serve } from './probe.ts';

const port = 18_081;
/** A number that no service comes to while tests run. */
const last = limits.network.slots - 1;
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

/** All that an instance can leave on a host, as text. */
async function traces(): Promise<string> {
  const shown = await Promise.all([
    host.run('ip', '-oneline', 'link'),
    host.run('ip', '-oneline', 'address'),
    host.run('ip', 'route', 'show', 'table', 'all'),
    host.run('nft', 'list', 'ruleset'),
    host.run('sysctl', `net.ipv4.conf.${host.uplink}.forwarding`),
  ]);
  return shown.join('\n').replace(/ifindex \d+|@if\d+/g, '');
}

function pins(instanceId: string): number {
  return readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(`nsfs ${runDirOf(instanceId)}/`)).length;
}

describe('acquire', () => {
  it('is immediate while slots are ready', async () => {
    const instance = await started({ poolSize: 4 });
    const times = [];
    for (const number of [1, 2, 3, 4]) times.push(await instance.acquireTime(sandbox(number)));
    expect(times.sort((a, b) => a - b)[1]).toBeLessThan(1);
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

  it('gives no slot whose ids another program’s process has', async () => {
    const instance = await started({ poolSize: 0 });
    const taken = new Set(readdirSync('/run/sandhaven/slots').map(Number));
    let index = 0;
    while (taken.has(index)) index++;
    const uid = String(uidBaseOf(index) + 1_000);
    const child = spawn('setpriv', [
      '--reuid',
      uid,
      '--clear-groups',
      'sh',
      '-c',
      'echo started; exec sleep 60',
    ]);
    try {
      await once(child.stdout, 'data');
      expect((await instance.acquire(sandbox(1))).index).not.toBe(index);
    } finally {
      child.kill('SIGKILL');
    }
    await instance.purge();
  });

  it('gives no slot whose ids are delegated to a user of the host', () => {
    const table = 'a:100000:65536\n# c\nb:200000:1\nc:330000:65536\nd:1:4294967295 x\nbad\ne:0:0\n';
    expect(slotsInDelegations(table)).toEqual([0, 1, 2]);
    expect(slotsInDelegations('all:1:4294967295').length).toBe(limits.network.slots);
  });

  it('says resource_exhausted when the machine has no slot left, and works again when it has', async () => {
    const all = new Set(Array.from({ length: limits.network.slots }, (_, index) => index));
    expect(takeLocks({ id: 'zzzzzz', runDir: '/run' }, 3, 'machine', all)).toEqual([]);
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
    const before = await traces();
    const instance = await started({ network: 'none' });
    const slot = await instance.acquire(sandbox(1));
    expect(slot).toMatchObject({ address: '', gateway: '', hostInterface: '' });
    const links = JSON.parse(await inside(slot).run('ip', '-json', 'address'));
    expect(links.map((link: { ifname: string; operstate: string }) => link.ifname)).toEqual(['lo']);
    expect(links[0].flags).toContain('UP');
    expect(await traces()).toBe(before);
    await instance.purge();
  });
});

describe('release', () => {
  it('makes namespaces anew: nothing of the last machine is in the next', async () => {
    const instance = await started({ poolSize: 0 });
    const slot = await instance.acquire(sandbox(1));
    await inside(slot).run('ip', 'address', 'add', '10.9.9.9/32', 'dev', 'lo');
    await instance.release(sandbox(1));
    await expect.poll(() => locksOf(instance.id).length).toBe(1);
    const next = await instance.acquire(sandbox(2));
    expect(next.index).toBe(slot.index);
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
});

describe('after kill -9', () => {
  it('held slots are as before and stay connected; all others are made anew', async () => {
    using _ = await serve(host.outside, port);
    let instance = await started({ poolSize: 3 });
    const slot = await instance.acquire(sandbox(1));
    await instance.acquire(sandbox(2));
    await instance.release(sandbox(2));
    using echoes = await openConnection(inside(slot), publicAddress, port);
    await instance.kill();
    expect(await connectTcp(inside(slot), publicAddress, port)).toBe('hello');

    instance = await started({ instanceId: instance.id, poolSize: 3 });
    expect(await instance.held()).toEqual([sandbox(1)]);
    expect(await instance.acquire(sandbox(1))).toEqual(slot);
    expect(await connectTcp(inside(slot), publicAddress, port)).toBe('hello');
    const before = echoes.count();
    await expect.poll(() => echoes.count()).toBeGreaterThan(before + 3);
    // One held, three ready, one that gives the gateway its address.
    expect(locksOf(instance.id).length).toBe(5);
    expect(pins(instance.id)).toBe(8);
    await instance.purge();
  });

  it('at any moment, the next start has exactly the held slots and a full pool', async () => {
    let instance = host.start();
    for (let round = 0; round < 8; round++) {
      const work = instance
        .init()
        .then(() => instance.acquire(sandbox(round)))
        .then(() => instance.release(sandbox(round - 1)))
        .catch(() => {});
      await sleep(120 + Math.random() * 250);
      await instance.kill();
      await work;
      instance = host.start({ instanceId: instance.id });
    }
    await instance.init();
    const held = await instance.held();
    await expect.poll(() => locksOf(instance.id).length, { timeout: 5_000 }).toBe(held.length + 3);
    expect(pins(instance.id)).toBe(2 * (held.length + 2));
    const links = (await host.run('ip', '-oneline', 'link')).match(new RegExp(`sh${instance.id}-`, 'g'));
    expect(links?.length).toBe(held.length + 2);
    await instance.purge();
  });

  it('a half-made slot is removed', async () => {
    let instance = await started({ poolSize: 0 });
    await instance.kill();
    const [index] = locksOf(instance.id);
    const lock = JSON.parse(readFileSync(`/run/sandhaven/slots/${index}`, 'utf8'));
    writeFileSync(`/run/sandhaven/slots/${last}`, JSON.stringify({ ...lock, purpose: 'machine' }), {
      flag: 'wx',
    });
    mkdirSync(`${runDirOf(instance.id)}/slots/${last}`);
    await host.run('ip', 'link', 'add', `sh${instance.id}-${last}`, 'type', 'veth', 'peer', 'name', 'half');
    instance = await started({ instanceId: instance.id, poolSize: 0 });
    expect(locksOf(instance.id)).toEqual([index]);
    expect(await host.run('ip', 'link')).not.toContain('half');
    expect(readdirSync(`${runDirOf(instance.id)}/slots`)).toEqual(['held']);
    await instance.purge();
  });
});

describe('close', () => {
  it('leaves what sandboxes hold, and nothing else', async () => {
    using _ = await serve(host.outside, port);
    const instance = await started({ poolSize: 4 });
    const slot = await instance.acquire(sandbox(1));
    await instance.close();
    expect(locksOf(instance.id).length).toBe(2);
    expect(pins(instance.id)).toBe(2);
    expect(await connectTcp(inside(slot), publicAddress, port)).toBe('hello');
    await instance.purge();
  });
});

describe('purge', () => {
  it('leaves the host as it was, twice over, and after kill -9 without init', async () => {
    const before = await traces();
    let instance = await started({ poolSize: 3 });
    await instance.acquire(sandbox(1));
    expect(await traces()).not.toBe(before);
    await instance.kill();
    instance = host.start({ instanceId: instance.id });
    await instance.purge();
    await instance.purge();
    expect(await traces()).toBe(before);
    expect(locksOf(instance.id)).toEqual([]);
    expect(pins(instance.id)).toBe(0);
  });
});

describe('slots of other instances', () => {
  it('are left alone while the instance has its run folder, running or not', async () => {
    const stopped = await started();
    const held = await stopped.acquire(sandbox(1));
    await stopped.kill();
    const locks = locksOf(stopped.id);
    const other = await started();
    expect(locksOf(stopped.id)).toEqual(locks);
    expect(existsSync(held.netNamespacePath)).toBe(true);
    await other.purge();
    expect(locksOf(stopped.id)).toEqual(locks);
  });

  it('are freed when its run folder is gone, but not while a process has their ids', async () => {
    const dead = await started({ poolSize: 1 });
    const slot = await dead.acquire(sandbox(1));
    using process = machineProcess(slot);
    await once(process.child.stdout, 'data');
    await dead.kill();
    const moved = `${runDirOf(dead.id)}.gone`;
    renameSync(runDirOf(dead.id), moved);
    try {
      const locks = locksOf(dead.id);
      const first = await started();
      expect(locksOf(dead.id)).toEqual(locks);
      await first.purge();

      const exited = once(process.child, 'exit');
      process.child.kill('SIGKILL');
      await exited;
      const second = await started();
      expect(locksOf(dead.id)).toEqual([]);
      expect(await traces()).not.toContain(dead.id);
      await second.purge();
    } finally {
      renameSync(moved, runDirOf(dead.id));
    }
  });

  it('of an earlier boot are freed', async () => {
    const lock = { instance: { id: 'zzzzzz', runDir: '/run' }, bootId: 'earlier', purpose: 'machine' };
    const path = `/run/sandhaven/slots/${last}`;
    mkdirSync('/run/sandhaven/slots', { recursive: true });
    writeFileSync(path, JSON.stringify(lock), { flag: 'wx' });
    const instance = await started({ poolSize: 0 });
    expect(existsSync(path)).toBe(false);
    await instance.purge();
  });
});

/** Something that runs as the slot's root, as a machine does. */
function machineProcess({ userNamespacePath }: Slot) {
  const child = spawn('nsenter', [`--user=${userNamespacePath}`, 'sh', '-c', 'echo started; exec sleep 60']);
  return { child, [Symbol.dispose]: () => void child.kill('SIGKILL') };
}
