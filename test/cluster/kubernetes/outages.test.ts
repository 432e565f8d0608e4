/** Calls while the API server, the scheduler or PostgreSQL is dead, and the time until they work again. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Cluster, startCluster } from '../cluster.ts';
import { type Body, type ClusterInstallation, call, installOn, ok } from './installation.ts';
import { type ReplicaProcess, startReplica } from './replica.ts';

const SIZE = { cpu: 1, memory_gb: 1, disk_gb: 1 };
const DEAD_MS = 12_000;
const BACK_MS = 60_000;

let cluster: Cluster;
let installation: ClusterInstallation;
let one: ReplicaProcess;
let two: ReplicaProcess;
let sandbox: string;

beforeAll(async () => {
  cluster = await startCluster({ nodes: 2 });
  installation = await installOn(cluster);
  one = await startReplica(installation, 'one');
  two = await startReplica(installation, 'two');
  sandbox = (await ok(one, 'CreateSandbox', { name: 'stays', ...SIZE })).id;
}, 200_000);
afterEach(({ task }) => {
  if (task.result?.state !== 'fail') return;
  for (const { name, log } of [one, two]) console.info(`${name}:\n${log().slice(-4_000)}`);
});
afterAll(async () => {
  await Promise.all([one?.kill(), two?.kill()]);
  installation?.close();
  await cluster?.stop();
});

describe('while the API server is dead', { timeout: 180_000 }, () => {
  it('started sandboxes are used as before, and none is created', async () => {
    const { apiServer } = cluster.parts;
    await apiServer.kill();
    for (const replica of [one, two]) {
      expect(await ok(replica, 'RunCommand', { sandbox, command: 'echo in' })).toMatchObject({
        stdout: 'in\n',
      });
      expect(await ok(replica, 'WriteFile', { sandbox, path: 'f', content: 'x' })).toMatchObject({});
      expect(await ok(replica, 'GetSandbox', { sandbox })).toMatchObject({ state: 'started' });
    }
    const refused = await timed('create', () => call(one, 'CreateSandbox', { name: 'no', ...SIZE }));
    expect(refused).toMatchObject({ code: 'unavailable' });
    await delay(DEAD_MS);
    expect(await ok(two, 'RunCommand', { sandbox, command: 'echo on' })).toMatchObject({ stdout: 'on\n' });
    apiServer.start();
    const made = await back(one, 'CreateSandbox', { name: 'after', ...SIZE });
    expect(await ok(two, 'DeleteSandbox', { sandbox: String(made['id']) })).toMatchObject({ deleted: true });
    expect(await ok(two, 'GetSandbox', { sandbox })).toMatchObject({ state: 'started' });
    expect(await ok(one, 'ListSandboxes', {})).toMatchObject({ total_count: 1 });
  });
});

describe('while the scheduler is dead', { timeout: 180_000 }, () => {
  it('a creation is refused after 45 s and leaves no Pod, and succeeds once it is back', async () => {
    const { scheduler } = cluster.parts;
    await scheduler.kill();
    const began = performance.now();
    const refused = await timed('create', () => call(one, 'CreateSandbox', { name: 'unseen', ...SIZE }));
    expect(refused).toMatchObject({
      ...{ code: 'unavailable', retryable: true },
      detail: "The cluster's scheduler has not looked at the sandbox.",
    });
    expect(performance.now() - began).toBeLessThan(55_000);
    const sandboxes = '/api/v1/namespaces/default/pods?labelSelector=sandhaven.dev/sandbox';
    expect((await cluster.api.get(sandboxes))['items']).toHaveLength(1);
    scheduler.start();
    const made = await back(one, 'CreateSandbox', { name: 'unseen', ...SIZE });
    expect(await ok(one, 'DeleteSandbox', { sandbox: String(made['id']) })).toMatchObject({ deleted: true });
  });
});

describe('while PostgreSQL is dead', { timeout: 180_000 }, () => {
  it('calls are refused at once, sandboxes run on, and both replicas serve again', async () => {
    const counting = 'for i in $(seq 600); do echo $i >> ticks; sleep 0.1; done';
    const session = await ok(one, 'CreateSession', { sandbox });
    const ran = { sandbox, session_id: session['session_id'], command: counting, async_exec: true };
    await ok(one, 'RunSessionCommand', ran);
    await installation.postgres.kill();
    const refused = await timed('use', () => call(one, 'RunCommand', { sandbox, command: 'true' }));
    expect(refused).toMatchObject({ code: 'unavailable' });
    await delay(DEAD_MS);
    await installation.postgres.start();
    for (const replica of [one, two]) await back(replica, 'RunCommand', { sandbox, command: 'true' });
    const { stdout } = await ok(two, 'RunCommand', { sandbox, command: 'wc -l < ticks' });
    // One each 0.1 s: it has not paused.
    expect(Number(stdout)).toBeGreaterThan(DEAD_MS / 200);
    // A change needs the replica's lease, which is renewed a moment later.
    expect(await back(one, 'StopSandbox', { sandbox })).toMatchObject({ state: 'stopped' });
    expect(await ok(two, 'StartSandbox', { sandbox })).toMatchObject({ state: 'started' });
  });
});

async function timed(what: string, work: () => Promise<Body>): Promise<Body> {
  const began = performance.now();
  const body = await work();
  console.info(`${what} refused after ${seconds(began)}: ${body['detail']}`);
  return body;
}

/** Repeats a call until it succeeds. */
async function back(replica: ReplicaProcess, tool: string, parameters: object): Promise<Body> {
  const began = performance.now();
  let said: unknown;
  for (;;) {
    const body = await call(replica, tool, parameters);
    if (!('code' in body)) {
      console.info(`${tool} by replica ${replica.name} works ${seconds(began)} after the return`);
      return body;
    }
    if (body['detail'] !== said) console.info(`after ${seconds(began)}: ${body['detail']}`);
    said = body['detail'];
    if (performance.now() - began > BACK_MS) throw new Error(`${tool}: ${JSON.stringify(body)}`);
    await delay(100);
  }
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1_000).toFixed(1)} s`;
}
