/** GPUs in real machines: what of them is there inside, what is not, and who holds them when. */
import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newSandboxId } from '../../../src/model/ids.ts';
import type { OciRuntime } from '../../../src/runtime/oci/runtime.ts';
import { cdiSpec, type PlainGpu, plainGpu } from '../../support/cdi.ts';
import { cgroupsNamed, createInstance, execIn, type Instance, removeInstance, runtimeOver } from '../host.ts';

const KIND = 'example.com/gpu';
const LIBRARY = '/usr/lib/x86_64-linux-gnu/libsandhaventest.so.1.2.3';

let folder: string;
let instance: Instance;
let runtime: OciRuntime;
let gpus: [PlainGpu, PlainGpu];
const made: { runtime: OciRuntime; id: string }[] = [];

const changes = () => ({ cdiFolders: [join(folder, 'cdi')] });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sandhaven-gpu-'));
  for (const name of ['cdi', 'nodes', 'lib']) mkdirSync(join(folder, name), { mode: 0o755 });
  gpus = [plainGpu(join(folder, 'nodes'), '0'), plainGpu(join(folder, 'nodes'), '1')];
  writeFileSync(join(folder, 'lib/libsandhaventest.so.1.2.3'), 'a library');
  symlinkSync('libsandhaventest.so.1.2.3', join(folder, 'lib/libsandhaventest.so.1'));
  for (const gpu of gpus) gpu.containerEdits.env = [`OWN_${gpu.name}=yes`];
  const common = {
    env: ['COMMON=of all'],
    mounts: [
      {
        hostPath: join(folder, 'lib/libsandhaventest.so.1.2.3'),
        containerPath: LIBRARY,
        options: ['rw', 'dev'],
      },
    ],
    hooks: [{ hookName: 'createContainer', path: '/bin/touch', args: ['touch', join(folder, 'hook-ran')] }],
  };
  writeFileSync(join(folder, 'cdi/test.json'), JSON.stringify(cdiSpec(KIND, gpus, common)));
  instance = createInstance();
});
afterAll(async () => {
  await removeInstance(instance);
  rmSync(folder, { recursive: true });
});
beforeEach(async () => {
  runtime = runtimeOver(instance, changes());
  await runtime.init();
});
afterEach(async () => {
  for (const { runtime: its, id } of made.splice(0)) await its.destroy(id);
  await runtime.close();
});

async function started(gpu: number, on = runtime, id = newSandboxId(), generation = 1): Promise<string> {
  made.push({ runtime: on, id });
  await on.start({ id, imageDigest: 'base', resources: { cpu: 1, memory: 1, disk: 1, gpu } }, generation);
  return id;
}

const free = async (of = runtime) => (await of.capacity()).freeGpus;
const inside = async (id: string, script: string) =>
  (await execIn(runtime, id, `${script} 2>&1`)).output.trim();

describe('inside', () => {
  it('[SBX-CREATE-16] the nodes of the machine’s own GPUs are there and work, and no other’s', async () => {
    const [zero, one] = gpus;
    const first = await started(1);
    const second = await started(1);
    expect(await inside(first, 'ls /dev | grep ^gpu-')).toBe('gpu-marker-0\ngpu-works-0');
    expect(await inside(second, 'ls /dev | grep ^gpu-')).toBe('gpu-marker-1\ngpu-works-1');
    expect(
      await inside(first, `/bin/echo x > ${zero.works}; stat -c '%F %t:%T %a %u:%g' ${zero.works}`),
    ).toMatch(/No space left on device\ncharacter special file 1:7 666 0:0$/);
    // A driver that is not there answers, so the way to it is open.
    expect(await inside(first, `: < ${zero.marker}`)).toMatch(/No such device or address$/);
    expect(await inside(second, `: < ${one.marker}`)).toMatch(/No such device or address$/);
    expect(await inside(first, `mknod /tmp/other c 240 ${one.markerNumbers.minor}`)).toMatch(
      /Operation not permitted$/,
    );
  });

  it('a machine without GPUs has none of it', async () => {
    const id = await started(0);
    expect(await inside(id, `ls /dev | grep -c ^gpu-; ls ${LIBRARY}`)).toMatch(/^0\n.*No such file/);
    expect(runtime.deviceEnvironment(id)).toEqual({});
  });

  it('all GPUs of a machine are there together', async () => {
    const id = await started(2);
    expect((await inside(id, 'ls /dev | grep ^gpu-')).split('\n')).toHaveLength(4);
    expect(runtime.deviceEnvironment(id)).toEqual({ COMMON: 'of all', OWN_0: 'yes', OWN_1: 'yes' });
  });

  it('libraries are there under the names that the host has for them, and can only be read', async () => {
    const id = await started(1);
    const other = LIBRARY.replace('.1.2.3', '.1');
    expect(await inside(id, `cat ${LIBRARY}; cat ${other}`)).toBe('a librarya library');
    expect(await inside(id, `echo x > ${LIBRARY}`)).toMatch(/Read-only file system|Permission denied/);
    const options = await inside(id, `grep ${other} /proc/self/mountinfo`);
    expect(options).toMatch(/ ro,nosuid,nodev/);
    expect(readFileSync(join(folder, 'lib/libsandhaventest.so.1.2.3'), 'utf8')).toBe('a library');
  });

  it('no hook of a specification is run', async () => {
    await started(1);
    expect(readdirSync(folder)).not.toContain('hook-ran');
  });

  it('changes that the machine makes to its nodes leave the host’s alone', async () => {
    const id = await started(1);
    await inside(id, `chmod 0 ${gpus[0].works}`);
    const { stdout } = spawnSync('stat', ['-c', '%a %u', join(folder, 'nodes/works-0')], {
      encoding: 'utf8',
    });
    expect(stdout.trim()).toBe('600 0');
  });
});

describe('the device rules of a machine', () => {
  /** As a process of its cgroup sees it, with nodes that nobody inside could make. */
  function openingAs(id: string, node: string): string {
    const groups = cgroupsNamed(`sandhaven-${instance.instanceId}/${id}`);
    const group = groups.find((path) => path.includes('/devices/')) ?? groups[0];
    const script = `echo $$ > ${group}/cgroup.procs && : < ${node}`;
    return spawnSync('bash', ['-c', script], { encoding: 'utf8' }).stderr.trim();
  }

  it('allow the numbers of its GPUs and of no others', async () => {
    const [zero, one] = gpus.map(({ name }) => join(folder, `nodes/marker-${name}`));
    const first = await started(1);
    const second = await started(1);
    const none = await started(0);
    expect(openingAs(first, zero ?? '')).toMatch(/No such device or address$/);
    expect(openingAs(first, one ?? '')).toMatch(/Operation not permitted$/);
    expect(openingAs(second, zero ?? '')).toMatch(/Operation not permitted$/);
    expect(openingAs(none, zero ?? '')).toMatch(/Operation not permitted$/);
  });
});

describe('a GPU', () => {
  const refusal = { code: 'resource_exhausted', fields: { retryable: true } };

  it('[WIRE-BOX-22] is held by one machine at a time, and freed by its stop', async () => {
    expect(await runtime.capacity()).toMatchObject({ gpus: 2, freeGpus: 2 });
    const id = await started(2);
    expect(await free()).toBe(0);
    await expect(started(1)).rejects.toMatchObject({
      ...refusal,
      message: '1 GPUs were asked for; of 2 on this host, 0 are free.',
    });
    await runtime.stop(id, 0);
    expect(await free()).toBe(2);
    await started(2);
  });

  it('is freed by a start that fails', async () => {
    const broken = runtimeOver(instance, { ...changes(), rootfsPath: () => '/nowhere' });
    await runtime.close();
    await broken.init();
    await expect(started(2, broken)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await free(broken)).toBe(2);
    await broken.close();
    await runtime.init();
  });

  it('is given to one of those that ask at once', async () => {
    const results = await Promise.allSettled([started(2), started(2), started(2)]);
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({ reason: refusal });
  });

  it('is not given to two services, whatever each calls it', async () => {
    const id = await started(1);
    const otherFolder = join(folder, 'cdi-other');
    mkdirSync(otherFolder, { mode: 0o755 });
    const renamed = gpus.map((gpu, index) => ({ ...gpu, name: `GPU-${index}` }));
    writeFileSync(join(otherFolder, 'other.json'), JSON.stringify(cdiSpec('other.example/card', renamed)));
    const otherInstance = createInstance();
    const other = runtimeOver(otherInstance, {
      cdiFolders: [otherFolder],
      gpuKind: { kind: 'other.example/card', names: null },
    });
    await other.init();
    try {
      expect(await other.capacity()).toMatchObject({ gpus: 2, freeGpus: 1 });
      await expect(started(2, other)).rejects.toMatchObject(refusal);
      const theirs = await started(1, other);
      expect((await execIn(other, theirs, 'ls /dev | grep ^gpu-marker')).output.trim()).toBe('gpu-marker-1');
      expect(await free()).toBe(0);
      await runtime.stop(id, 0);
      expect(await free()).toBe(1);
    } finally {
      for (const { id: theirs } of made.filter((one) => one.runtime === other)) await other.destroy(theirs);
      made.splice(0, made.length, ...made.filter((one) => one.runtime !== other));
      await other.close();
      await removeInstance(otherInstance);
      rmSync(otherFolder, { recursive: true });
    }
  });

  it('stays with a running machine when the service is another', async () => {
    const id = await started(1);
    await runtime.close();
    runtime = runtimeOver(instance, changes());
    await runtime.init();
    expect(await free()).toBe(1);
    expect(runtime.deviceEnvironment(id)).toMatchObject({ OWN_0: 'yes' });
    expect(await inside(await started(1), 'ls /dev | grep ^gpu-marker')).toBe('gpu-marker-1');
  });

  it('is held when its machine was killed until that is cleared away, and then free', async () => {
    const id = await started(2);
    for (const group of cgroupsNamed(`sandhaven-${instance.instanceId}/${id}`)) {
      for (const pid of readFileSync(`${group}/cgroup.procs`, 'utf8').split('\n').filter(Boolean)) {
        process.kill(Number(pid), 'SIGKILL');
      }
    }
    await expect.poll(async () => (await runtime.inspect(id))?.runningGeneration).toBeNull();
    await runtime.stop(id, 0);
    expect(await free()).toBe(2);
  });

  it('is free again when service and machine ended together', async () => {
    const id = await started(2);
    await runtime.close();
    for (const group of cgroupsNamed(`sandhaven-${instance.instanceId}/${id}`)) {
      for (const pid of readFileSync(`${group}/cgroup.procs`, 'utf8').split('\n').filter(Boolean)) {
        process.kill(Number(pid), 'SIGKILL');
      }
    }
    await expect
      .poll(() =>
        cgroupsNamed(`sandhaven-${instance.instanceId}/${id}`).every(
          (group) => spawnSync('rmdir', [group]).status === 0,
        ),
      )
      .toBe(true);
    runtime = runtimeOver(instance, changes());
    await runtime.init();
    expect(await free()).toBe(2);
  });
});
