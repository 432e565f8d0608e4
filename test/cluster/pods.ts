/** Pods of the tests: made, waited for, run commands in, and deleted. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { kubernetesFolder } from '../../setup/cluster/folders.ts';
import type { KubeObject } from './api.ts';
import type { Cluster } from './cluster.ts';

export const PODS = '/api/v1/namespaces/default/pods';

/** Settings of a Pod beside its one container's. */
export interface PodOptions {
  image: string;
  command: string[];
  node?: string;
  labels?: Record<string, string>;
  container?: KubeObject;
  spec?: KubeObject;
}

/** Resolves with the Pod when it is ready. */
export async function runPod(cluster: Cluster, name: string, options: PodOptions): Promise<KubeObject> {
  const { image, command, node, labels = {}, container, spec } = options;
  await cluster.api.create(PODS, {
    metadata: { name, labels },
    spec: {
      ...(node ? { nodeSelector: { 'kubernetes.io/hostname': node } } : {}),
      terminationGracePeriodSeconds: 0,
      restartPolicy: 'Never',
      containers: [{ name: 'main', image, command, ...container }],
      ...spec,
    },
  });
  return cluster.api.until(`${PODS}/${name}`, isReady);
}

/** Returns the standard output of a command in a Pod; throws when its exit status is not 0. */
export function inPod(cluster: Cluster, name: string, command: string): string {
  const kubectl = join(kubernetesFolder, 'kubectl');
  const args = ['--kubeconfig', cluster.kubeconfig, 'exec', name, '--', 'sh', '-c', command];
  return execFileSync(kubectl, args, { encoding: 'utf8', stdio: 'pipe' }).trim();
}

export async function deletePod(cluster: Cluster, name: string): Promise<void> {
  await cluster.api.delete(`${PODS}/${name}?gracePeriodSeconds=0`);
  await cluster.api.until(`${PODS}/${name}`, ({ error }) => String(error).includes(' 404 '));
}

function isReady({ status }: KubeObject): boolean {
  return (status?.conditions ?? []).some(
    (condition: KubeObject) => condition.type === 'Ready' && condition.status === 'True',
  );
}
