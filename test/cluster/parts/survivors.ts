/** Pods that keep running, and answer, while parts of their cluster die. */
import type { KubeObject } from '../api.ts';
import type { Cluster } from '../cluster.ts';
import { PODS, runPod } from '../pods.ts';

const PORT = 8080;

/** Starts a web server on each node. */
export async function runSurvivors(cluster: Cluster, image: string): Promise<void> {
  const serve = `mkdir -p /www; echo hello >/www/index.html; exec httpd -f -p ${PORT} -h /www`;
  for (const { name } of cluster.nodes) {
    await runPod(cluster, `on-${name}`, {
      image,
      command: ['sh', '-c', serve],
      node: name,
      labels: { app: 'survivor' },
      spec: { restartPolicy: 'Always' },
    });
  }
}

/** Their containers by node: another one after a restart. */
export async function containers(cluster: Cluster): Promise<Record<string, string>> {
  const { items } = await cluster.api.get(`${PODS}?labelSelector=app%3Dsurvivor`);
  const entries = items.map((pod: KubeObject) => [
    pod.spec.nodeName,
    pod.status.containerStatuses[0].containerID,
  ]);
  return Object.fromEntries(entries);
}

/** Returns a function that says whether the Pod of a node answers the host, which takes no part of Kubernetes. */
export async function caller(cluster: Cluster): Promise<(node: string) => Promise<boolean>> {
  const { items } = await cluster.api.get(`${PODS}?labelSelector=app%3Dsurvivor`);
  const addresses = new Map<string, string>(
    items.map((pod: KubeObject) => [pod.spec.nodeName, pod.status.podIP]),
  );
  return (node) =>
    fetch(`http://${addresses.get(node)}:${PORT}/`, { signal: AbortSignal.timeout(1_000) }).then(
      ({ ok }) => ok,
      () => false,
    );
}
