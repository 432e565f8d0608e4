/** Replicas of a service on a real cluster with one PostgreSQL, behind a front that spreads their calls. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Front, startFront } from '../../support/front/front.ts';
import { type Cluster, startCluster } from '../cluster.ts';
import { type ClusterInstallation, call, installOn, ok } from './installation.ts';
import { type ReplicaProcess, startReplica } from './replica.ts';

const SIZE = { cpu: 1, memory_gb: 1, disk_gb: 1 };

let cluster: Cluster;
let installation: ClusterInstallation;
let one: ReplicaProcess;
let two: ReplicaProcess;
let front: Front;

beforeAll(async () => {
  cluster = await startCluster({ nodes: 2 });
  installation = await installOn(cluster);
  one = await startReplica(installation, 'one');
  two = await startReplica(installation, 'two');
  front = await startFront({ mode: 'requests', replicas: [one, two] });
}, 200_000);
afterEach(({ task }) => {
  if (task.result?.state !== 'fail') return;
  for (const { name, log } of [one, two]) console.info(`${name}:\n${log().slice(-3_000)}`);
});
/** What a failed test has left would fail the next ones. */
afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return;
  const { sandboxes } = await call(one, 'ListSandboxes', {});
  for (const { id } of (sandboxes ?? []) as { id: string }[])
    await call(one, 'DeleteSandbox', { sandbox: id });
});
afterAll(async () => {
  await front?.close();
  await Promise.all([one?.kill(), two?.kill()]);
  installation?.close();
  await cluster?.stop();
});

describe('replicas', { timeout: 180_000 }, () => {
  it('serve each call, whichever gets it', async () => {
    await bothReady();
    const before = front.served.length;
    const { id: sandbox } = await ok(front, 'CreateSandbox', { name: 'spread', ...SIZE });
    for (let turn = 0; turn < 3; turn++) {
      expect(await ok(front, 'RunCommand', { sandbox, command: `echo ${turn}` })).toMatchObject({
        stdout: `${turn}\n`,
      });
      expect(await ok(front, 'StopSandbox', { sandbox: 'spread' })).toMatchObject({ state: 'stopped' });
      expect(await ok(front, 'StartSandbox', { sandbox })).toMatchObject({ state: 'started' });
    }
    const served = front.served.slice(before).map(({ replica }) => replica);
    expect(new Set(served)).toEqual(new Set(['one', 'two']));
    await ok(front, 'DeleteSandbox', { sandbox });
    expect(await call(front, 'GetSandbox', { sandbox })).toMatchObject({ code: 'not_found' });
  });

  it('keep the operations of a sandbox in order', async () => {
    const { id: sandbox } = await ok(one, 'CreateSandbox', { name: 'ordered', ...SIZE });
    const stopping = ok(one, 'StopSandbox', { sandbox });
    // Before it has begun, a start finds nothing to do.
    await expect.poll(() => operation(sandbox)).toBe(true);
    const starting = ok(two, 'StartSandbox', { sandbox });
    expect(await stopping).toMatchObject({ state: 'stopped' });
    expect(await starting).toMatchObject({ state: 'started' });
    expect(await ok(one, 'RunCommand', { sandbox, command: 'echo up' })).toMatchObject({ stdout: 'up\n' });
    await ok(two, 'DeleteSandbox', { sandbox });
  });

  it('make one sandbox under one key, also of calls at both at once', async () => {
    const create = (replica: ReplicaProcess) =>
      ok(replica, 'CreateSandbox', { name: 'once', ...SIZE }, { 'idempotency-key': 'one-key' });
    const [first, second] = await Promise.all([create(one), create(two)]);
    expect(first.id).toBe(second.id);
    expect(await ok(front, 'ListSandboxes', {})).toMatchObject({ total_count: 1 });
    await ok(front, 'DeleteSandbox', { sandbox: 'once' });
  });

  it('finish what a killed one has begun', async () => {
    const { id: sandbox } = await ok(two, 'CreateSandbox', { name: 'left', ...SIZE });
    await ok(two, 'WriteFile', { sandbox, path: '/workspace/kept.txt', content: 'kept' });
    const stopping = call(two, 'StopSandbox', { sandbox }).catch(() => null);
    await expect.poll(() => operation(sandbox)).toBe(true);
    await two.kill();
    await stopping;
    await expect
      .poll(async () => (await call(one, 'GetSandbox', { sandbox }))['state'], { timeout: 60_000 })
      .toBe('stopped');
    expect(await ok(one, 'StartSandbox', { sandbox })).toMatchObject({ state: 'started' });
    await ok(one, 'DeleteSandbox', { sandbox });
    two = await startReplica(installation, 'two');
    front.setReplicas([one, two]);
    await bothReady();
  });

  it('change nothing once they were given up', async () => {
    const { id: sandbox } = await ok(two, 'CreateSandbox', { name: 'fenced', ...SIZE });
    two.suspend();
    try {
      // The front has left it out before.
      await expect
        .poll(async () => (await call(one, 'StopSandbox', { sandbox }))['state'], { timeout: 60_000 })
        .toBe('stopped');
      await expect.poll(() => leases(), { timeout: 60_000 }).toBe(1);
    } finally {
      two.resume();
    }
    expect(await ok(one, 'StartSandbox', { sandbox })).toMatchObject({ state: 'started' });
    await expect
      .poll(async () => (await call(two, 'RunCommand', { sandbox, command: 'echo back' }))['stdout'], {
        timeout: 30_000,
      })
      .toBe('back\n');
    expect(await pods()).toHaveLength(1);
    // It serves reads before it has a lease again; only then it is ready.
    await bothReady();
    await ok(two, 'DeleteSandbox', { sandbox });
  });

  it('leave on SIGTERM without a failed call', async () => {
    const { id: sandbox } = await ok(front, 'CreateSandbox', { name: 'drained', ...SIZE });
    const faults: unknown[] = [];
    let ending = false;
    const load = Array.from({ length: 4 }, async () => {
      while (!ending) {
        const body = await call(front, 'RunCommand', { sandbox, command: 'true' }).catch(String);
        if (typeof body === 'string' || body['exit_code'] !== 0) faults.push(body);
      }
    });
    expect(await two.terminate()).toBe(0);
    ending = true;
    await Promise.all(load);
    expect(faults).toEqual([]);
    await ok(front, 'DeleteSandbox', { sandbox });
    expect(await pods()).toEqual([]);
  });
});

async function bothReady(): Promise<void> {
  await expect.poll(() => front.ready().length, { timeout: 30_000 }).toBe(2);
}

async function leases(): Promise<number> {
  return (await installation.postgres.query(installation.database, 'SELECT id FROM replicas')).length;
}

async function pods(): Promise<unknown[]> {
  return (await cluster.api.get('/api/v1/namespaces/default/pods')).items;
}

/** Returns true once the Pod of the sandbox is being removed. */
async function operation(sandbox: string): Promise<boolean> {
  const found = (await cluster.api.get('/api/v1/namespaces/default/pods')).items as {
    metadata: { labels: Record<string, string>; deletionTimestamp?: string };
  }[];
  return found.some(
    ({ metadata }) =>
      metadata.labels['sandhaven.dev/sandbox'] === sandbox && metadata.deletionTimestamp !== undefined,
  );
}
