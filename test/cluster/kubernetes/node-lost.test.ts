/** Nodes that die under sandboxes, on a real cluster: what callers see, and what runs afterwards. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Cluster, startCluster } from '../cluster.ts';
import type { Machine } from '../parts/machine.ts';
import { type ClusterInstallation, call, installOn, ok } from './installation.ts';
import { type ReplicaProcess, startReplica } from './replica.ts';

const SIZE = { cpu: 1, memory_gb: 1, disk_gb: 1 };
const FILE = '/workspace/kept.txt';
/** The cluster finds a node dead after 10 s, and a look comes each 5 s. */
const LOST_AFTER_SECONDS = 10;
const LOST_MS = 45_000;
/**
 * Kubernetes looks for removed nodes each 20 s, waits 40 s, and removes their Pods at its next look: up to 80 s. The service
 * sees that within 5 s, and is refused a new Pod after 10 s.
 */
const REMOVED_MS = 110_000;

let cluster: Cluster;
let installation: ClusterInstallation;
let replicas: ReplicaProcess[] = [];
/** A folder that all nodes have, as a volume of the network is. */
const shared = mkdtempSync(join(tmpdir(), 'sandhaven-shared-'));

beforeAll(async () => {
  cluster = await startCluster({ nodes: 2 });
  installation = await installOn(cluster, ['--node-lost-after-seconds', String(LOST_AFTER_SECONDS)]);
}, 200_000);
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail')
    for (const { name, log } of replicas) console.info(`${name}:\n${log().slice(-6_000)}`);
  await Promise.all(replicas.map((replica) => replica.kill()));
  replicas = [];
});
afterAll(async () => {
  installation?.close();
  await cluster?.stop();
  rmSync(shared, { recursive: true, force: true });
});

describe('a sandbox whose node dies', { timeout: 240_000 }, () => {
  it('is in error until somebody starts it, and has one machine at most', async () => {
    const [one, two] = await serve();
    const { sandbox, node } = await create(one, 'waits');
    const died = performance.now();
    await node.kill();
    expect(await settled(two, sandbox)).toMatchObject({
      state: 'error',
      state_reason: expect.stringContaining('Its node does not answer'),
    });
    report('in error', died);
    expect(await call(one, 'RunCommand', { sandbox, command: 'true' })).toMatchObject({
      code: 'invalid_state',
    });
    expect(await call(one, 'StartSandbox', { sandbox })).toMatchObject({
      code: 'unavailable',
      detail: "The sandbox's node does not answer, so it is not known that its machine has ended.",
    });
    expect(await ok(two, 'GetSandbox', { sandbox })).toMatchObject({ state: 'error' });
    expect(await podsOf(sandbox)).toHaveLength(1);

    const back = performance.now();
    await node.start('kept');
    await expect.poll(() => podsOf(sandbox), { timeout: 60_000 }).toEqual([]);
    report('old Pod gone', back);
    expect(await ok(two, 'GetSandbox', { sandbox })).toMatchObject({ state: 'error' });
    expect(await ok(one, 'StartSandbox', { sandbox })).toMatchObject({ state: 'started' });
    expect(await ok(two, 'ReadFile', { sandbox, path: FILE })).toMatchObject({ content: 'waits' });
    await ok(one, 'DeleteSandbox', { sandbox });
  });

  it('stays where its volume is, with the reason, when it may start elsewhere', async () => {
    const [one, two] = await serve('--node-lost', 'restart');
    const { sandbox, node } = await create(one, 'bound');
    await node.kill();
    await settled(two, sandbox);
    const removed = performance.now();
    await cluster.api.delete(`/api/v1/nodes/${node.name}`);
    await expect
      .poll(async () => (await ok(two, 'GetSandbox', { sandbox }))['state_reason'], { timeout: REMOVED_MS })
      .toContain('No node of the cluster takes the sandbox');
    report('started elsewhere in vain', removed);
    expect(await ok(one, 'GetSandbox', { sandbox })).toMatchObject({ state: 'error' });
    expect(await podsOf(sandbox)).toEqual([]);
    await node.start('kept');
    await expect
      .poll(async () => (await call(one, 'StartSandbox', { sandbox }))['state'], { timeout: 60_000 })
      .toBe('started');
    expect(await ok(two, 'ReadFile', { sandbox, path: FILE })).toMatchObject({ content: 'bound' });
    await ok(one, 'DeleteSandbox', { sandbox });
  });

  it('starts elsewhere by itself once its node is out of service', async () => {
    await offerSharedVolume();
    const [one, two] = await serve('--node-lost', 'restart', '--storage-class', 'shared');
    const { sandbox, node } = await create(one, 'moves');
    await node.kill();
    await settled(two, sandbox);
    const marked = performance.now();
    const taint = { key: 'node.kubernetes.io/out-of-service', value: 'off', effect: 'NoExecute' };
    await cluster.api.patch(`/api/v1/nodes/${node.name}`, { spec: { taints: [taint] } });
    await expect
      .poll(async () => (await ok(two, 'GetSandbox', { sandbox }))['state'], { timeout: REMOVED_MS })
      .toBe('started');
    report('started elsewhere', marked);
    expect(await nodeOf(sandbox)).not.toBe(node.name);
    expect(await podsOf(sandbox)).toHaveLength(1);
    expect(await ok(one, 'ReadFile', { sandbox, path: FILE })).toMatchObject({ content: 'moves' });
    await ok(one, 'DeleteSandbox', { sandbox });
  });
});

async function serve(...options: string[]): Promise<[ReplicaProcess, ReplicaProcess]> {
  const all = { ...installation, argv: [...installation.argv, ...options] };
  const one = await startReplica(all, 'one');
  const two = await startReplica(all, 'two');
  replicas = [one, two];
  return [one, two];
}

/** Makes a sandbox with a file of its name's content, and finds its node. */
async function create(replica: ReplicaProcess, name: string): Promise<{ sandbox: string; node: Machine }> {
  const { id: sandbox } = await ok(replica, 'CreateSandbox', { name, ...SIZE });
  await ok(replica, 'WriteFile', { sandbox, path: FILE, content: name });
  const at = await nodeOf(sandbox);
  const node = cluster.nodes.find(({ name }) => name === at) ?? expect.fail(`no node ${at}`);
  return { sandbox, node };
}

/** Resolves with the sandbox once it is not started any more. */
async function settled(replica: ReplicaProcess, sandbox: string): Promise<Record<string, unknown>> {
  const state = async () => (await ok(replica, 'GetSandbox', { sandbox }))['state'];
  await expect.poll(state, { timeout: LOST_MS, interval: 250 }).not.toBe('started');
  return ok(replica, 'GetSandbox', { sandbox });
}

interface PodOfSandbox {
  metadata: { labels: Record<string, string> };
  spec: { nodeName?: string };
}

async function podsOf(sandbox: string): Promise<PodOfSandbox[]> {
  const { items } = await cluster.api.get('/api/v1/namespaces/default/pods');
  return (items as PodOfSandbox[]).filter(
    ({ metadata }) => metadata.labels['sandhaven.dev/sandbox'] === sandbox,
  );
}

async function nodeOf(sandbox: string): Promise<string | undefined> {
  return (await podsOf(sandbox))[0]?.spec.nodeName;
}

/** A storage class with one volume, which every node can mount. */
async function offerSharedVolume(): Promise<void> {
  const path = join(shared, 'volume');
  mkdirSync(path);
  await cluster.api.create('/apis/storage.k8s.io/v1/storageclasses', {
    metadata: { name: 'shared' },
    provisioner: 'kubernetes.io/no-provisioner',
  });
  await cluster.api.create('/api/v1/persistentvolumes', {
    metadata: { name: 'shared' },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'shared',
      persistentVolumeReclaimPolicy: 'Retain',
      hostPath: { path },
    },
  });
}

function report(what: string, since: number): void {
  console.info(`${what} after ${((performance.now() - since) / 1000).toFixed(1)} s`);
}
