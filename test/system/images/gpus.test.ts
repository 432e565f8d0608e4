/** GPUs of a real service, from a specification where CDI has them. */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { cdiSpec, type PlainGpu, plainGpu } from '../../support/cdi.ts';
import { bin, call, must, type Service, startService } from '../../support/service.ts';

const CDI = '/var/run/cdi';
const PATIENCE = { timeout: 30_000 };
const small = { cpu: 1, memory_gb: 1, disk_gb: 1 };

let folder: string;
let file: string;
let kind: string;
let gpus: PlainGpu[];
let service: Service;
const madeCdi = !existsSync(CDI);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sandhaven-gpus-'));
  kind = `${basename(folder).toLowerCase()}.example/gpu`;
  gpus = ['0', '1'].map((name) => plainGpu(folder, name));
  for (const gpu of gpus) gpu.containerEdits.env = [`WHICH=${gpu.name}`, 'MINE=of the device'];
  mkdirSync(CDI, { recursive: true, mode: 0o755 });
  file = join(CDI, `${basename(folder)}.json`);
  writeFileSync(file, JSON.stringify(cdiSpec(kind, gpus)), { mode: 0o644 });
  service = await startService({ flags: ['--gpu-kind', kind, '--warm-pool', '1'] });
}, 90_000);

afterAll(async () => {
  await service?.stop();
  rmSync(file, { force: true });
  if (madeCdi && readdirSync(CDI).length === 0) rmdirSync(CDI);
  rmSync(folder, { recursive: true, force: true });
});

afterEach(async () => {
  const { sandboxes } = (await must(service, 'ListSandboxes')) as { sandboxes: { id: string }[] };
  for (const { id } of sandboxes) await must(service, 'DeleteSandbox', { sandbox: id });
});

const create = (gpu: number, more: object = {}) => call(service, 'CreateSandbox', { ...small, gpu, ...more });
async function created(gpu: number, more: object = {}): Promise<string> {
  return String((await must(service, 'CreateSandbox', { ...small, gpu, ...more }))['id']);
}
async function run(sandbox: string, command: string): Promise<string> {
  return String(
    (await must(service, 'RunCommand', { sandbox, command: `{ ${command}; } 2>&1` }))['stdout'],
  ).trim();
}
const exhausted = (free: number) => ({
  status: 429,
  body: {
    code: 'resource_exhausted',
    detail: expect.stringContaining(`of 2 on this host, ${free} are free`),
  },
});

describe('a sandbox with a GPU', () => {
  it('[SBX-CREATE-16] has the device, and the environment of its specification', async () => {
    const sandbox = await created(1, { env_vars: { MINE: 'of the caller' } });
    const seen = await must(service, 'GetSandbox', { sandbox });
    expect(seen).toMatchObject({ resources: { ...{ cpu: 1, memory: 1, disk: 1 }, gpu: 1 } });
    expect(seen['env_vars']).toEqual({ MINE: 'of the caller' });
    expect(await run(sandbox, 'ls /dev | grep ^gpu-; echo $WHICH $MINE')).toBe(
      'gpu-marker-0\ngpu-works-0\n0 of the caller',
    );
    const code = 'import os; print(os.environ["WHICH"])';
    expect(await must(service, 'RunCode', { sandbox, code })).toMatchObject({ stdout: '0\n' });
    const { session_id } = await must(service, 'CreateSession', { sandbox });
    const said = await must(service, 'RunSessionCommand', { sandbox, session_id, command: 'echo $WHICH' });
    expect(JSON.stringify(said)).toContain('0\\n');
    const other = await created(0);
    expect(await run(other, 'ls /dev | grep -c ^gpu-; echo "[$WHICH]"')).toBe('0\n[]');
  });

  it('[WIRE-BOX-22] a GPU that another has is refused: resource_exhausted, with the number that is free', async () => {
    await created(1);
    expect(await create(2)).toMatchObject(exhausted(1));
    expect(await must(service, 'ListSandboxes')).toMatchObject({ total_count: 1 });
    await created(1);
    expect(await create(1)).toMatchObject(exhausted(0));
  });

  it('its stop frees the GPUs, and its start takes some again or changes nothing', async () => {
    const first = await created(2);
    await must(service, 'StopSandbox', { sandbox: first });
    const second = await created(1);
    expect(await call(service, 'StartSandbox', { sandbox: first })).toMatchObject(exhausted(1));
    expect(await must(service, 'GetSandbox', { sandbox: first })).toMatchObject({ state: 'stopped' });
    await must(service, 'ArchiveSandbox', { sandbox: first });
    await must(service, 'DeleteSandbox', { sandbox: second });
    await must(service, 'StartSandbox', { sandbox: first });
    expect(await run(first, 'ls /dev | grep -c ^gpu-works')).toBe('2');
  });

  it('[SBX-RESIZE-08] a resize leaves its GPUs alone', async () => {
    const sandbox = await created(1);
    await must(service, 'ResizeSandbox', { sandbox, cpu: 2 });
    const { resources } = await must(service, 'GetSandbox', { sandbox });
    expect(resources).toEqual({ cpu: 2, memory: 1, disk: 1, gpu: 1 });
    expect(await run(sandbox, `: < ${gpus[0]?.marker}`)).toMatch(/No such device or address$/);
  });

  it('comes from a snapshot that has GPUs, entrypoint and all', async () => {
    await must(service, 'CreateSnapshot', {
      name: 'with-gpu',
      image: 'base',
      entrypoint: ['sh', '-c', 'echo $WHICH > /tmp/which'],
      resources: { cpu: 1, memory: 1, disk: 1, gpu: 1 },
    });
    await expect
      .poll(async () => (await must(service, 'GetSnapshot', { snapshot: 'with-gpu' }))['state'], PATIENCE)
      .toBe('active');
    const { id } = await must(service, 'CreateSandbox', { snapshot: 'with-gpu' });
    await expect.poll(() => run(String(id), 'cat /tmp/which'), PATIENCE).toBe('0');
    expect(await create(2)).toMatchObject(exhausted(1));
  });

  it('keeps its GPUs when the service is killed, and gives them back when its machine is, also while no service is there', async () => {
    const kept = await created(1);
    const ended = await created(1);
    await service.kill();
    killMachine(ended);
    await service.restart();
    await isStopped(ended);
    expect(await create(2)).toMatchObject(exhausted(1));
    expect(await run(kept, 'echo $WHICH')).toBe('0');
    killMachine(kept);
    await isStopped(kept);
    await created(2);
  });

  it('is what doctor counts as in use', async () => {
    await created(1);
    const { stdout } = spawnSync(bin, ['doctor', '--json'], {
      encoding: 'utf8',
      env: { ...process.env, SANDHAVEN_GPU_KIND: kind },
    });
    const { checks } = JSON.parse(stdout) as { checks: { name: string; found: string }[] };
    expect(checks.find(({ name }) => name === 'gpus')?.found).toContain(`2 of ${kind}: 0, 1; 1 in use`);
  });
});

async function isStopped(sandbox: string): Promise<void> {
  const state = async () => (await must(service, 'GetSandbox', { sandbox }))['state'];
  await expect.poll(state, PATIENCE).toBe('stopped');
}

function killMachine(sandbox: string): void {
  const instance = readFileSync(join(service.dataDir, 'instance'), 'utf8').trim();
  const group = `sandhaven-${instance}/${sandbox}/cgroup.procs`;
  const roots = ['/sys/fs/cgroup', ...readdirSync('/sys/fs/cgroup').map((name) => `/sys/fs/cgroup/${name}`)];
  const pids = roots.flatMap((root) =>
    existsSync(join(root, group)) ? readFileSync(join(root, group), 'utf8').split('\n').filter(Boolean) : [],
  );
  expect(pids.length).toBeGreaterThan(0);
  for (const pid of new Set(pids)) spawnSync('kill', ['-KILL', pid]);
}
