/** Shows that every part of a cluster works, by what only all of them can do together. */
import type { KubeObject } from '../api.ts';
import type { Cluster } from '../cluster.ts';

let count = 0;

/**
 * Resolves when all nodes are ready and free of taints, and a new Pod has started on each, whose image came from the
 * registry: that takes etcd, the API server, the controller manager (for the account), the scheduler, kubelet and
 * containerd. Rejects at the timeout.
 */
export async function untilReady(cluster: Cluster, timeoutMs = 60_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  const until = (path: string, wanted: (object: KubeObject) => boolean) =>
    cluster.api.until(path, wanted, deadline - Date.now());
  const namespace = `whole-${++count}`;
  const path = `/api/v1/namespaces/${namespace}`;
  const exists = ({ kind }: KubeObject) => kind !== undefined && kind !== 'Status';
  await until('/api/v1/namespaces/default', exists);
  await retried(() => cluster.api.create('/api/v1/namespaces', { metadata: { name: namespace } }), deadline);
  await until(`${path}/serviceaccounts/default`, exists);
  for (const { name } of cluster.nodes) {
    await until(`/api/v1/nodes/${name}`, isWhole);
    await retried(() => cluster.api.create(`${path}/pods`, probe(cluster, name)), deadline);
  }
  for (const { name } of cluster.nodes) await until(`${path}/pods/${name}`, isReady);
  await cluster.api.delete(path);
}

function probe({ registry }: Cluster, node: string): KubeObject {
  return {
    metadata: { name: node },
    spec: {
      nodeSelector: { 'kubernetes.io/hostname': node },
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'main', image: `${registry}/pause:1`, imagePullPolicy: 'Always' }],
    },
  };
}

function isWhole({ spec, status }: KubeObject): boolean {
  return (spec?.taints ?? []).length === 0 && isReady({ status });
}

function isReady({ status }: KubeObject): boolean {
  return (status?.conditions ?? []).some(
    (condition: KubeObject) => condition.type === 'Ready' && condition.status === 'True',
  );
}

/** While etcd comes back, the API server refuses writes that it will soon accept; it may have made the object. */
async function retried(create: () => Promise<KubeObject>, deadline: number): Promise<void> {
  for (;;) {
    const error: Error | null = await create().then(
      () => null,
      (reason) => reason,
    );
    if (error === null || error.message.includes(': 409 ')) return;
    if (Date.now() > deadline) throw error;
  }
}
