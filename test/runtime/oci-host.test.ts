/** What the OCI runtime does to the host, seen from the host. */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { MachineSpec } from '../../src/control/ports/index.ts';
import { newSandboxId } from '../../src/model/ids.ts';
import { createHelpers } from '../../src/runtime/oci/host/helper.ts';
import type { OciRuntime } from '../../src/runtime/oci/runtime.ts';
import {
  cgroupsNamed,
  createInstance,
  execIn,
  fencesOf,
  type Instance,
  launcherPath,
  removeInstance,
  runtimeOver,
  tracesOf,
} from './host.ts';

const DISK_POOL = 4;
const DISK_GB = 20;
const GiB = 1024 ** 3;

describe('on the host', () => {
  let instance: Instance;
  let runtime: OciRuntime;
  const made: string[] = [];
  const disk = (id: string): string => join(instance.dataDir, 'sandboxes', id, 'disk.img');

  beforeAll(async () => {
    instance = createInstance();
    runtime = runtimeOver(instance);
    await runtime.init();
  });
  afterEach(async () => {
    for (const id of made.splice(0)) await runtime.destroy(id);
  });
  afterAll(() => removeInstance(instance));

  async function started(diskGb = 1): Promise<MachineSpec> {
    const id = newSandboxId();
    made.push(id);
    const machine = { id, imageDigest: 'base', resources: { cpu: 1, memory: 1, disk: diskGb, gpu: 0 } };
    await runtime.start(machine, 1);
    return machine;
  }

  it('a machine shows no mount, and one loop device that goes with it', async () => {
    const { id } = await started();
    const shown = (await tracesOf(instance, id)).filter(
      (trace) => trace.includes('/') && !trace.includes('nsfs'),
    );
    expect(shown).toEqual([`${disk(id)}\n`]);
    await runtime.stop(id, 500);
    expect(await tracesOf(instance, id)).toEqual([id]);
  });

  it('the launcher notes which loop device a machine has', async () => {
    const { id } = await started();
    const device = readFileSync(join(instance.dataDir, 'sandboxes', id, 'g1', 'loop'), 'utf8');
    expect(device).toMatch(/^loop\d+$/);
    expect(readFileSync(`/sys/block/${device}/loop/backing_file`, 'utf8')).toBe(`${disk(id)}\n`);
  });

  it('a machine’s processes are no user of the host', async () => {
    const { id } = await started();
    const [group] = cgroupsNamed(`sandhaven-${instance.instanceId}/${id}`);
    const procs = readFileSync(`${group}/cgroup.procs`, 'utf8');
    const [pid] = procs.split('\n');
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const [, uid] = /^Uid:\t(\d+)/m.exec(status) ?? [];
    expect(Number(uid)).toBeGreaterThanOrEqual(200_000);
    expect(/^Seccomp:\t(\d)/m.exec(status)?.[1]).toBe('2');
  });

  it('the kernel refuses a second user of a disk', async () => {
    const { id } = await started();
    const helpers = createHelpers(launcherPath, () => []);
    const options = { timeoutMs: 5_000, lock: disk(id) };
    await expect(helpers.run('true', [], options)).rejects.toMatchObject({ exitCode: 122 });
    await runtime.stop(id, 500);
    await helpers.run('true', [], options);
  });

  it('a helper that outlives its service ends before the next one begins', async () => {
    const [fence] = fencesOf(instance);
    const args = ['exec', '--cgroup', `${fence}/cgroup.procs`, '--', 'sleep', '1000'];
    const helper = spawn(launcherPath, args, { stdio: 'ignore' });
    const ended = new Promise((resolve) => helper.once('exit', (_, signal) => resolve(signal)));
    await expect.poll(() => readFileSync(`${fence}/cgroup.procs`, 'utf8').trim()).toBe(String(helper.pid));
    runtime = runtimeOver(instance);
    await runtime.init();
    expect(await ended).toBe('SIGKILL');
    const late = spawnSync(launcherPath, args);
    expect(late.status).toBe(120);
  });

  it('all machines together stay below the host’s memory', () => {
    const file = cgroupsNamed(`sandhaven-${instance.instanceId}`)
      .flatMap((group) => [`${group}/memory.limit_in_bytes`, `${group}/memory.max`])
      .find((path) => existsSync(path));
    const total = Number(/^MemTotal:\s+(\d+)/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]) * 1024;
    expect(Number(readFileSync(file ?? '', 'utf8'))).toBeLessThanOrEqual(total - GiB);
  });

  it('ready disks wait in the pool, and others follow', async () => {
    const pool = (): string[] =>
      readdirSync(join(instance.dataDir, 'pool')).filter((name) => /^ready-\w+\.img$/.test(name));
    await expect.poll(pool, { timeout: 20_000 }).toHaveLength(DISK_POOL);
    const before = pool();
    const { id } = await started(DISK_GB);
    expect(before.filter((name) => !pool().includes(name))).toHaveLength(1);
    await expect.poll(pool, { timeout: 20_000 }).toHaveLength(DISK_POOL);
    expect((await stat(disk(id))).size).toBe(DISK_GB * GiB);
    // Half a megabyte of the host each: no room is set aside for a file system beyond the largest disk.
    for (const name of pool()) {
      expect((await stat(join(instance.dataDir, 'pool', name))).blocks * 512).toBeLessThan(512 * 1024);
    }
  });

  it('a disk takes little more room than what is in it, and gives room back', async () => {
    const { id } = await started();
    const used = async (): Promise<number> => (await stat(disk(id))).blocks * 512;
    expect(await used()).toBeLessThan(40 * 2 ** 20);
    await execIn(runtime, id, 'head -c 100M /dev/urandom > /root/big; sync');
    expect(await used()).toBeGreaterThan(100 * 2 ** 20);
    await execIn(runtime, id, 'rm /root/big; sync');
    await expect.poll(used, { timeout: 20_000 }).toBeLessThan(60 * 2 ** 20);
  });

  it('an archive brings back the image byte by byte', { timeout: 60_000 }, async () => {
    const machine = await started();
    const { id } = machine;
    const odd = 'truncate -s 300M sparse; echo x > odd; chmod 4711 odd; chown 123 odd';
    await execIn(runtime, id, `cd /root; head -c 10M /dev/urandom > random; ${odd}`);
    await runtime.stop(id, 500);
    const before = join(instance.dataDir, 'before.img');
    await promisify(execFile)('cp', ['--sparse=always', disk(id), before]);
    const record = await runtime.archive(id, 2);
    await runtime.dropDisk(id);
    await runtime.restore(machine, 3, record);
    await promisify(execFile)('cmp', [before, disk(id)]);
    expect((await stat(disk(id))).blocks * 512).toBeLessThan(100 * 2 ** 20);
  });

  it('a disk that was lost is not replaced by an empty one', async () => {
    const machine = await started();
    await runtime.stop(machine.id, 500);
    await rm(disk(machine.id));
    await expect(runtime.start(machine, 2)).rejects.toMatchObject({
      code: 'unavailable',
      fields: { retryable: false },
    });
  });

  it('shows callers nothing of the host when a start fails', async () => {
    const broken = runtimeOver(instance, { rootfsPath: () => '/nowhere/at-all' });
    await runtime.close();
    await broken.init();
    const id = newSandboxId();
    made.push(id);
    const machine = { id, imageDigest: 'base', resources: { cpu: 1, memory: 1, disk: 1, gpu: 0 } };
    const error = await broken.start(machine, 1).catch((thrown: unknown) => thrown as Error);
    expect(error).toMatchObject({ code: 'unavailable', message: 'The machine could not be started.' });
    expect(await broken.inspect(id)).toMatchObject({ runningGeneration: null });
    await broken.close();
    runtime = runtimeOver(instance);
    await runtime.init();
  });
});
