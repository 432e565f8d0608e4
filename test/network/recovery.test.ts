import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryHierarchy, parseHierarchies } from '../../src/runtime/oci/host/hierarchies.ts';
import { isAlive } from '../../src/runtime/oci/host/liveness.ts';
import { inPart } from '../deep/parts.ts';
import { createTestHost, type Instance, inside, publicAddress, runDirOf, type TestHost } from './harness.ts';
import { connectTcp, openConnection, serve } from './probe.ts';
import { locksOf, machineProcess, pins, traces } from './traces.ts';

const SLOTS = 16_384;

const port = 18_081;
/** A number that no service comes to while tests run. */
const last = SLOTS - 1;
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
    for (let round = 0; round < (inPart('kills') ? 8 : 3); round++) {
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
    expect(existsSync(`${runDirOf(instance.id)}/slots/${last}`)).toBe(false);
    await instance.purge();
  });
});

describe('a number that cannot be made into a slot', () => {
  it('holds nobody up: another is taken', async () => {
    const instance = await started({ poolSize: 0 });
    const first = await instance.acquire(sandbox(1));
    await instance.release(sandbox(1));
    await expect.poll(() => locksOf(instance.id)).not.toContain(first.index);
    // Somebody else's route to the address that the number stands for.
    await host.run('ip', 'route', 'add', first.address, 'dev', host.uplink);
    try {
      await expect
        .poll(() => instance.acquire(sandbox(2)).catch(() => null), { timeout: 5_000 })
        .not.toBeNull();
    } finally {
      await host.run('ip', 'route', 'del', first.address, 'dev', host.uplink);
    }
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
    const before = await traces(host);
    let instance = await started({ poolSize: 3 });
    await instance.acquire(sandbox(1));
    expect(await traces(host)).not.toBe(before);
    await instance.kill();
    instance = host.start({ instanceId: instance.id });
    await instance.purge();
    await instance.purge();
    expect(await traces(host)).toBe(before);
    expect(locksOf(instance.id)).toEqual([]);
    expect(pins(instance.id)).toBe(0);
  });
});

describe('what still runs in the slots of a purged instance', () => {
  async function withProcess(run: (instance: Instance, process: ChildProcess) => Promise<void>) {
    const instance = await started({ poolSize: 1 });
    using machine = machineProcess(await instance.acquire(sandbox(1)));
    await once(machine.child.stdout, 'data');
    await run(instance, machine.child);
    expect(locksOf(instance.id)).toEqual([]);
  }

  it('is killed when it belongs to a machine', () =>
    withProcess(async (instance, process) => {
      const hierarchy = memoryHierarchy(parseHierarchies(readFileSync('/proc/self/mountinfo', 'utf8')));
      const parent = `${hierarchy?.mountpoint}/sandhaven-${instance.id}`;
      const group = join(parent, sandbox(1));
      mkdirSync(group, { recursive: true });
      try {
        writeFileSync(`${group}/cgroup.procs`, String(process.pid));
        const ended = once(process, 'exit');
        await instance.purge();
        expect(await ended).toEqual([null, 'SIGKILL']);
      } finally {
        process.kill('SIGKILL');
        await expect.poll(() => readFileSync(`${group}/cgroup.procs`, 'utf8')).toBe('');
        for (const each of [group, parent]) rmdirSync(each);
      }
    }));

  it('is named and left alone when it is no machine', () =>
    withProcess(async (instance, process) => {
      await instance.purge();
      expect(process.exitCode ?? process.signalCode).toBeNull();
      expect(instance.log()).toContain(`${process.pid} (sleep, state S)`);
    }));
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
      expect(await traces(host)).not.toContain(dead.id);
      await second.purge();
    } finally {
      renameSync(moved, runDirOf(dead.id));
    }
  });

  it('are freed when its data is gone, but not while its service runs', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'sandhaven-'));
    const dead = await started({ poolSize: 1, dataDir });
    const slot = await dead.acquire(sandbox(1));
    rmdirSync(dataDir);
    const first = await started();
    expect(locksOf(dead.id)).toContain(slot.index);
    await first.purge();
    await dead.kill();
    const second = await started();
    expect(locksOf(dead.id)).toEqual([]);
    expect(pins(dead.id)).toBe(0);
    await second.purge();
  });

  it('are left to its own purge, also by those who do not see its data', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'sandhaven-'));
    const one = await started({ poolSize: 1, dataDir });
    rmdirSync(dataDir);
    let hasEnded = false;
    const purged = one.purge().finally(() => {
      hasEnded = true;
    });
    while (!hasEnded) {
      // In this order: the claim goes after the locks.
      if (!isAlive({ runDir: runDirOf(one.id) })) expect(locksOf(one.id)).toEqual([]);
      await sleep(1);
    }
    await purged;
    expect(locksOf(one.id)).toEqual([]);
  });

  it('are left to those who share its network namespace', async () => {
    const dead = await started({ poolSize: 1 });
    await dead.kill();
    const moved = `${runDirOf(dead.id)}.gone`;
    renameSync(runDirOf(dead.id), moved);
    try {
      await using elsewhere = await createTestHost();
      const stranger = elsewhere.start();
      await stranger.init();
      expect(locksOf(dead.id).length).toBe(2);
      await stranger.purge();
      const heir = await started();
      expect(locksOf(dead.id)).toEqual([]);
      expect(await traces(host)).not.toContain(dead.id);
      await heir.purge();
    } finally {
      renameSync(moved, runDirOf(dead.id));
    }
  });

  it('are served by one service at a time', async () => {
    const one = await started();
    const other = host.start({ instanceId: one.id });
    await expect(other.init()).rejects.toMatchObject({ code: 'failed_precondition' });
    await other.kill();
    await one.purge();
  });

  it('of an earlier boot are freed', async () => {
    const lock = {
      instance: { id: 'zzzzzz', runDir: '/run', dataDir: '/run' },
      bootId: 'earlier',
      purpose: 'machine',
    };
    const path = `/run/sandhaven/slots/${last}`;
    mkdirSync('/run/sandhaven/slots', { recursive: true });
    writeFileSync(path, JSON.stringify(lock), { flag: 'wx' });
    const instance = await started({ poolSize: 0 });
    expect(existsSync(path)).toBe(false);
    await instance.purge();
  });
});
