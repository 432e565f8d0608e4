/**
 * Pods that a user of the bare API makes: one request, then a watch until the Pod is Ready, on kept connections. They
 * have the image, sizes and user namespace of a sandbox, with a disk like a sandbox's or without one.
 */
import { createApi } from '../../src/runtime/kubernetes/client/api.ts';
import { findConnection } from '../../src/runtime/kubernetes/client/connection.ts';
import { eventsOf } from '../../src/runtime/kubernetes/client/informer.ts';
import { inNamespace, type Pod } from '../../src/runtime/kubernetes/client/objects.ts';

export interface BarePods {
  /** Resolves with the milliseconds from the request of a Pod to the news that it is Ready; removes it then. */
  createToReady(withDisk: boolean): Promise<number>;
  close(): void;
}

const NAMESPACE = 'default';
const READY_MS = 120_000;

export async function openBarePods(kubeconfig: string, image: string): Promise<BarePods> {
  const api = createApi(await findConnection(kubeconfig));
  const pods = inNamespace(NAMESPACE, 'pods');
  const claims = inNamespace(NAMESPACE, 'persistentvolumeclaims');
  let made = 0;

  /** Watches one Pod from before it is there; the promise settles when it is Ready. */
  async function watchReady(name: string, signal: AbortSignal): Promise<{ ready: Promise<void> }> {
    const query = { fieldSelector: `metadata.name=${name}` };
    const version = await api.list(pods, () => {}, { query });
    const answer = await api.watch(pods, { ...query, resourceVersion: version }, { signal });
    const follow = async () => {
      for await (const event of eventsOf<Pod>(answer)) {
        if (event.type !== 'ERROR' && isReady(event.object)) return;
      }
      throw new Error(`the watch of ${name} ended before it was Ready`);
    };
    const ready = follow();
    // A creation that fails before leaves it without a listener.
    ready.catch(() => {});
    return { ready };
  }

  return {
    async createToReady(withDisk) {
      const name = `bare-${++made}`;
      const ended = new AbortController();
      const late = setTimeout(() => ended.abort(new Error(`${name} is not Ready`)), READY_MS);
      let took: number;
      try {
        const { ready } = await watchReady(name, ended.signal);
        // Without a timed part of its own: it is bound while the Pod starts.
        if (withDisk) await api.create(claims, claimOf(name));
        const begun = performance.now();
        await api.create(pods, podOf(name, image, withDisk));
        await ready;
        took = performance.now() - begun;
      } finally {
        clearTimeout(late);
        ended.abort();
      }
      await removed(name);
      if (withDisk) await api.remove(`${claims}/${name}`);
      return took;
    },
    close: () => api.close(),
  };

  async function removed(name: string): Promise<void> {
    await api.remove(`${pods}/${name}`, { gracePeriodSeconds: 1 });
    for (;;) {
      const found = await api.get(`${pods}/${name}`).catch(() => null);
      if (found === null) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ?? false;
}

/** The sizes of a sandbox by default. */
const SIZES = { cpu: '2', memory: '4Gi' };

function podOf(name: string, image: string, withDisk: boolean): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { bench: 'bare' } },
    spec: {
      hostUsers: false,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      restartPolicy: 'Never',
      containers: [
        {
          name: 'main',
          image,
          imagePullPolicy: 'IfNotPresent',
          command: ['sleep', 'infinity'],
          resources: { requests: SIZES, limits: SIZES },
          ...(withDisk ? { volumeMounts: [{ name: 'disk', mountPath: '/disk' }] } : {}),
        },
      ],
      ...(withDisk ? { volumes: [{ name: 'disk', persistentVolumeClaim: { claimName: name } }] } : {}),
    },
  };
}

function claimOf(name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '20Gi' } } },
  };
}
