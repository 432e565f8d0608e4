/** A node loses its programs, its power or its network; its Pods live or die as on a real one, and it comes back. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '../api.ts';
import { type Cluster, startCluster } from '../cluster.ts';
import { pushBusybox } from '../images.ts';
import { deletePod, inPod, PODS, runPod } from '../pods.ts';
import type { Machine } from './machine.ts';
import { caller, containers, runSurvivors } from './survivors.ts';
import { untilReady } from './until-ready.ts';

const WHOLE_MS = 60_000;
/** The control plane calls a node dead after ten seconds of silence. */
const DEAD_MS = 20_000;
const UNREACHABLE = 'node.kubernetes.io/unreachable';

let cluster: Cluster;
let image: string;
let node: Machine;

beforeAll(async () => {
  cluster = await startCluster({ nodes: 2 });
  image = pushBusybox(cluster.registry);
  await runSurvivors(cluster, image);
  node = cluster.nodes[0] as Machine;
});
afterAll(() => cluster?.stop());
afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.info(cluster.logs());
});

/** Resolves when the node is NotReady and nothing is scheduled or left to run there. */
function untilDead(): Promise<KubeObject> {
  const isUnknown = ({ type, status }: KubeObject) => type === 'Ready' && status === 'Unknown';
  return cluster.api.until(
    `/api/v1/nodes/${node.name}`,
    ({ spec, status }) =>
      status?.conditions.some(isUnknown) &&
      ['NoSchedule', 'NoExecute'].every((effect) =>
        spec.taints?.some((taint: KubeObject) => taint.key === UNREACHABLE && taint.effect === effect),
      ),
    DEAD_MS,
  );
}

describe('a node', { timeout: 120_000 }, () => {
  it('keeps its Pods while containerd is killed and started', async () => {
    const before = await containers(cluster);
    const answers = await caller(cluster);
    await node.parts.containerd.kill();
    expect(await answers('node1')).toBe(true);
    node.parts.containerd.start();
    await untilReady(cluster, WHOLE_MS);
    expect(await containers(cluster)).toEqual(before);
  });

  it('is dead without its kubelet, and keeps its Pods until that is started', async () => {
    const before = await containers(cluster);
    const answers = await caller(cluster);
    await node.parts.kubelet.kill();
    await untilDead();
    expect(await answers('node1')).toBe(true);
    node.parts.kubelet.start();
    await untilReady(cluster, WHOLE_MS);
    expect(await containers(cluster)).toEqual(before);
  });

  it('is dead while it is cut from the control plane, though its Pods answer others', async () => {
    const before = await containers(cluster);
    const answers = await caller(cluster);
    node.cut();
    await untilDead();
    expect([await answers('node1'), await answers('node2')]).toEqual([true, true]);
    node.heal();
    await untilReady(cluster, WHOLE_MS);
    expect(await containers(cluster)).toEqual(before);
  });

  it('loses its Pods with its power, and runs them again with the files on its disks', async () => {
    const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
    await cluster.api.create(claims, {
      metadata: { name: 'disk' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '32Mi' } } },
    });
    await runPod(cluster, 'writer', {
      image,
      command: ['sleep', '100000'],
      node: node.name,
      container: { volumeMounts: [{ name: 'disk', mountPath: '/disk' }] },
      spec: {
        restartPolicy: 'Always',
        volumes: [{ name: 'disk', persistentVolumeClaim: { claimName: 'disk' } }],
      },
    });
    inPod(cluster, 'writer', 'echo kept >/disk/file; sync');
    const [{ node1, node2 }, answers] = [await containers(cluster), await caller(cluster)];
    await node.kill();
    expect([await answers('node1'), await answers('node2')]).toEqual([false, true]);
    await untilDead();
    await node.start('kept');
    await untilReady(cluster, WHOLE_MS);
    const after = await untilRestarted(node1);
    expect(after['node2']).toBe(node2);
    await cluster.api.until(`${PODS}/writer`, ({ status }) => status.containerStatuses?.[0].ready);
    expect(inPod(cluster, 'writer', 'cat /disk/file')).toBe('kept');
    await deletePod(cluster, 'writer');
    await cluster.api.delete(`${claims}/disk`);
    await cluster.api.until('/api/v1/persistentvolumes', ({ items }) => items.length === 0);
  });

  it('comes back without its disks, and fetches images again', async () => {
    const { node1, node2 } = await containers(cluster);
    await node.kill();
    await node.start('lost');
    await untilReady(cluster, WHOLE_MS);
    const after = await untilRestarted(node1);
    expect(after['node2']).toBe(node2);
    expect(await (await caller(cluster))('node1')).toBe(true);
  });
});

/** Resolves with the containers when the one on the node that was killed is another. */
async function untilRestarted(container: string | undefined): Promise<Record<string, string>> {
  await cluster.api.until(`${PODS}/on-${node.name}`, ({ status }) => {
    const [one] = status?.containerStatuses ?? [];
    return one?.ready && one.containerID !== container;
  });
  return containers(cluster);
}
