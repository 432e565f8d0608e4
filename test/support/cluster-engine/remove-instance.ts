/** Removes all that a cluster holds of one installation, once its replicas have ended. */
import { setTimeout as delay } from 'node:timers/promises';
import { connectApi } from '../../cluster/api.ts';

const CORE = '/api/v1/namespaces/default';
const KINDS = ['pods', 'persistentvolumeclaims', 'secrets', 'configmaps'].map((kind) => `${CORE}/${kind}`);
const POLICIES = '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies';
const POLL_MS = 100;
const GONE_TIMEOUT_MS = 30_000;

/** Resolves when its Pods and claims are gone too. */
export async function removeInstance(kubeconfig: string, instance: string): Promise<void> {
  const api = connectApi(kubeconfig);
  const own = `labelSelector=sandhaven.dev/instance=${instance}`;
  const isGone = async (path: string) => ((await api.get(`${path}?${own}`)).items ?? []).length === 0;
  try {
    // A grace period of 0 would forget Pods whose containers still run.
    await Promise.all([...KINDS, POLICIES].map((path) => api.delete(`${path}?${own}&gracePeriodSeconds=1`)));
    const deadline = Date.now() + GONE_TIMEOUT_MS;
    while (!(await Promise.all(KINDS.map(isGone))).every(Boolean)) {
      if (Date.now() > deadline) throw new Error(`objects of the instance ${instance} remain`);
      await delay(POLL_MS);
    }
  } finally {
    api.close();
  }
}
