/** Sandboxes as Pods: what the cluster, its nodes and the kernel show of them. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { MachineSpec, Runtime } from '../../../src/control/ports/index.ts';
import { newSandboxId } from '../../../src/model/ids.ts';
import type { Resources } from '../../../src/model/sandbox.ts';
import { type Cluster, startCluster } from '../cluster.ts';
import { PODS } from '../pods.ts';
import { type KubernetesHost, openHost, sh, tracesOf } from './host.ts';
import { resumeKubelet, stopKubelet } from './processes.ts';

const small: Resources = { cpu: 1, memory: 1, disk: 1, gpu: 0 };

let cluster: Cluster;
let host: KubernetesHost;
let runtime: Runtime;
const made = new Set<string>();

beforeAll(async () => {
  cluster = await startCluster({ nodes: 2 });
  host = await openHost(cluster);
  runtime = await host.open();
});
afterEach(async () => {
  for (const id of made) await runtime.destroy(id);
  made.clear();
}, 120_000);
afterAll(async () => {
  await runtime?.close();
  await cluster?.stop();
});

const spec = (resources: Partial<Resources> = {}): MachineSpec => {
  const id = newSandboxId();
  made.add(id);
  return { id, imageDigest: 'base', resources: { ...small, ...resources } };
};
const podOf = (id: string) => cluster.api.get(`${PODS}/sandbox-${id.replace('_', '-')}`);

describe('a start', { timeout: 120_000 }, () => {
  it('has one Pod and one claim, of fixed names', async () => {
    const machine = spec();
    await runtime.start(machine, 1);
    const name = `sandbox-${machine.id.replace('_', '-')}`;
    expect(await tracesOf(cluster, machine.id)).toEqual([
      `persistentvolumeclaims/${name}`,
      `pods/${name}`,
      `secrets/${name}-1`,
    ]);
    expect(await sh(runtime, machine.id, 'ls /.sandhaven/tls | wc -l; cat /proc/self/uid_map')).toMatch(
      /^0\n\s+0\s+[1-9]\d{4,}\s+65536$/,
    );
  });

  it('of a service that was killed is gone on with by the next start of its generation', async () => {
    const machine = spec();
    const killed = await host.open();
    const interrupted = killed.start(machine, 1).catch((error: unknown) => error);
    await cluster.api.until(PODS, ({ items }) => items.length > 0, 10_000);
    killed.kill();
    const { uid } = (await podOf(machine.id)).metadata;
    await runtime.start(machine, 1);
    expect((await podOf(machine.id)).metadata.uid).toBe(uid);
    await interrupted;
    await killed.close();
    expect(await sh(runtime, machine.id, 'echo here')).toBe('here');
  });

  it('never uses the Pod of an older generation', async () => {
    const machine = spec();
    await runtime.start(machine, 1);
    const { uid } = (await podOf(machine.id)).metadata;
    await runtime.start(machine, 2);
    const { metadata } = await podOf(machine.id);
    expect(metadata.uid).not.toBe(uid);
    expect(metadata.annotations['sandhaven.dev/generation']).toBe('2');
  });

  it('says why an image cannot be pulled, and leaves nothing that runs', async () => {
    const other = await openHost(cluster, { image: `${cluster.registry}/no-such-image:1` });
    const lost = await other.open();
    const machine = spec();
    await expect(lost.start(machine, 1)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/^The node cannot pull an image: .*no-such-image/),
    });
    expect((await tracesOf(cluster, machine.id)).filter((one) => !one.startsWith('persistent'))).toEqual([]);
    await lost.destroy(machine.id);
    await lost.close();
  });

  it('says why no node takes it', async () => {
    const machine = spec({ cpu: 16 });
    await expect(runtime.start(machine, 1)).rejects.toMatchObject({
      code: 'resource_exhausted',
      message: expect.stringContaining('Insufficient cpu'),
    });
    expect((await runtime.inspect(machine.id))?.runningGeneration).toBeNull();
  });
});

describe('a resize of a running machine', () => {
  const memory =
    'cat /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null || cat /sys/fs/cgroup/memory.max';

  it('[SBX-RESIZE-03] is seen by the kernel, and no program ends', async () => {
    const machine = spec();
    await runtime.start(machine, 1);
    const { uid } = (await podOf(machine.id)).metadata;
    expect(await sh(runtime, machine.id, memory)).toBe(String(2 ** 30));
    await runtime.resizeLive(machine.id, { ...small, cpu: 2, memory: 2 });
    expect(await sh(runtime, machine.id, memory)).toBe(String(2 ** 31));
    const pod = await podOf(machine.id);
    expect([pod.metadata.uid, pod.status.containerStatuses[0].restartCount]).toEqual([uid, 0]);
  });

  it('that the node has no room for is refused, and changes nothing', async () => {
    const machine = spec();
    await runtime.start(machine, 1);
    await expect(runtime.resizeLive(machine.id, { ...small, cpu: 16 })).rejects.toMatchObject({
      code: 'resource_exhausted',
    });
    const pod = await podOf(machine.id);
    expect(pod.spec.containers[0].resources.limits.cpu).toBe('1');
    expect(await sh(runtime, machine.id, memory)).toBe(String(2 ** 30));
  });
});

describe('a node that does not answer', { timeout: 200_000 }, () => {
  it('is told from a machine that has stopped, and no stop pretends', async () => {
    const machine = spec();
    await runtime.start(machine, 1);
    const { nodeName } = (await podOf(machine.id)).spec;
    const node = cluster.nodes.find(({ name }) => name === nodeName);
    if (!node) throw new Error('no such node');
    stopKubelet(node);
    try {
      const seen = async () => (await runtime.inspect(machine.id))?.unreachable;
      await expect.poll(seen, { timeout: 90_000, interval: 500 }).toBe(true);
      expect((await runtime.inspect(machine.id))?.runningGeneration).toBe(1);
      expect(await sh(runtime, machine.id, 'echo still here')).toBe('still here');
      await expect(runtime.stop(machine.id, 0)).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining('node does not answer'),
      });
      expect((await runtime.inspect(machine.id))?.runningGeneration).toBe(1);
    } finally {
      resumeKubelet(node);
    }
    await runtime.stop(machine.id, 0);
    expect(await runtime.inspect(machine.id)).toMatchObject({ runningGeneration: null, hasDisk: true });
  });
});

describe('the network of a sandbox', () => {
  it('leads neither to the API server, nor to the kubelets of other nodes, nor to a sibling', async () => {
    const [one, other] = [spec(), spec()];
    await Promise.all([runtime.start(one, 1), runtime.start(other, 1)]);
    const sibling = (await podOf(other.id)).status.podIP;
    const [service] = (await cluster.api.get('/api/v1/namespaces/default/services/kubernetes')).spec
      .clusterIPs;
    // Kubernetes allows traffic between a Pod and its own node, whatever a policy says.
    const { nodeName } = (await podOf(one.id)).spec;
    const node = cluster.nodes.find(({ name }) => name !== nodeName);
    const server = cluster.registry.split(':')[0];
    const reaches = async (address: string, port: number) =>
      (await sh(runtime, one.id, `nc -w 2 ${address} ${port} </dev/null && echo yes || echo no`)).endsWith(
        'yes',
      );
    const dns = (await cluster.api.get('/api/v1/namespaces/kube-system/services/kube-dns')).spec.clusterIP;
    await expect.poll(() => reaches(dns, 53), { timeout: 10_000 }).toBe(true);
    // The test cluster enforces a policy some hundredths of a second after a Pod has its address.
    await expect.poll(() => reaches(sibling, 7421), { timeout: 10_000 }).toBe(false);
    expect(await reaches(server ?? '', 6443)).toBe(false);
    expect(await reaches(service, 443)).toBe(false);
    expect(await reaches(node?.address ?? '', 10250)).toBe(false);
    expect(await reaches('169.254.169.254', 80)).toBe(false);
  });
});
