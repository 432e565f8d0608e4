/** Each program of the control plane can be killed and started alone; Pods that run do not notice. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Cluster, startCluster } from '../cluster.ts';
import { pushBusybox, pushFiles } from '../images.ts';
import { PODS } from '../pods.ts';
import { caller, containers, runSurvivors } from './survivors.ts';
import { untilReady } from './until-ready.ts';

const WHOLE_MS = 30_000;

let cluster: Cluster;
let image: string;

beforeAll(async () => {
  cluster = await startCluster({ nodes: 2 });
  image = pushBusybox(cluster.registry);
  await runSurvivors(cluster, image);
});
afterAll(() => cluster?.stop());
afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.info(cluster.logs());
});

describe('a kill of one part of the control plane', () => {
  it.each<[keyof Cluster['parts']]>([
    ['apiServer'],
    ['etcd'],
    ['controllerManager'],
    ['scheduler'],
    ['registry'],
    ['nameServer'],
  ])('%s leaves Pods alone, and its start makes the cluster whole', { timeout: 90_000 }, async (name) => {
    const part = cluster.parts[name];
    const before = await containers(cluster);
    const answers = await caller(cluster);
    await part.kill();
    expect(part.isRunning).toBe(false);
    expect([await answers('node1'), await answers('node2')]).toEqual([true, true]);
    part.start();
    await untilReady(cluster, WHOLE_MS);
    expect(await containers(cluster)).toEqual(before);
  });

  it('takes away what the part did', { timeout: 90_000 }, async () => {
    const { apiServer, scheduler, registry } = cluster.parts;
    const spec = {
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'main', image, command: ['sleep', '9'] }],
    };
    await scheduler.kill();
    await cluster.api.create(PODS, { metadata: { name: 'waits' }, spec });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect((await cluster.api.get(`${PODS}/waits`)).spec.nodeName).toBeUndefined();
    scheduler.start();
    await cluster.api.until(`${PODS}/waits`, ({ spec: { nodeName } }) => nodeName !== undefined);
    await cluster.api.delete(`${PODS}/waits?gracePeriodSeconds=0`);

    await registry.kill();
    expect(() => pushFiles(cluster.registry, 'new:1', {}, () => undefined)).toThrow(/connection refused/);
    registry.start();

    await apiServer.kill();
    await expect(cluster.api.get(PODS)).rejects.toThrow();
    apiServer.start();
    expect(() => apiServer.start()).toThrow(/runs already/);
    await untilReady(cluster, WHOLE_MS);
  });
});

it('a part that ends by itself starts again', { timeout: 60_000 }, async () => {
  const { scheduler } = cluster.parts;
  const { pid } = scheduler;
  if (pid === null) throw new Error('the scheduler has no process');
  process.kill(pid, 'SIGTERM');
  await expect.poll(() => ![pid, null].includes(scheduler.pid)).toBe(true);
  await untilReady(cluster, WHOLE_MS);
});
