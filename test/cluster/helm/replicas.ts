/** Pods of an installed chart, called in turn as their Service would, and their way to the cluster's registry. */
import { request } from 'node:http';
import type { Cluster } from '../cluster.ts';

export interface Replicas {
  /** Calls a tool of sandboxes on the next Pod that is ready. Rejects with its refusal. */
  ok(apiKey: string, tool: string, parameters: Record<string, unknown>): Promise<Record<string, unknown>>;
}

interface Installed {
  namespace: string;
  /** The name that the service knows itself by. */
  host: string;
}

const MIRROR_PORT = 5_999;

export function replicasOf({ api }: Cluster, { namespace, host }: Installed): Replicas {
  let turn = 0;

  async function addresses(): Promise<string[]> {
    const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=app.kubernetes.io/component=service`;
    const { items } = (await api.get(path)) as { items: ServicePod[] };
    const ready = items.filter(
      ({ metadata, status }) =>
        !metadata.deletionTimestamp &&
        status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
    );
    return ready.flatMap(({ status }) => status.podIP ?? []).sort();
  }

  return {
    async ok(apiKey, tool, parameters) {
      const ready = await addresses();
      turn += 1;
      const address = ready[turn % ready.length];
      if (!address) throw new Error('no Pod of the service is ready');
      return post({ address, host, apiKey }, `/v1/tools/Sandbox.${tool}`, parameters);
    },
  };
}

/**
 * Variables by which the service reads images: it speaks plain HTTP with registries on its own machine alone, so a relay
 * in its process leads there.
 */
export function wayToRegistry(registry: string): { name: string; value: string }[] {
  const [host, port] = registry.split(':');
  const code = `
    import { connect, createServer } from 'node:net';
    const relay = createServer((client) => {
      const upstream = connect(${port}, '${host}');
      client.pipe(upstream).pipe(client);
      for (const socket of [client, upstream]) socket.on('error', () => (client.destroy(), upstream.destroy()));
    });
    relay.on('error', () => {});
    relay.listen(${MIRROR_PORT}, '127.0.0.1').unref();`;
  const module = `data:text/javascript,${encodeURIComponent(code.replace(/\s+/g, ' '))}`;
  return [
    { name: 'NODE_OPTIONS', value: `--import=${module}` },
    { name: 'SANDHAVEN_REGISTRY_MIRROR', value: `${registry}=127.0.0.1:${MIRROR_PORT}` },
  ];
}

interface ServicePod {
  metadata: { deletionTimestamp?: string };
  status: { podIP?: string; conditions?: { type: string; status: string }[] };
}

/** With a Host of its own, which fetch does not let its callers set. */
function post(
  { address, host, apiKey }: { address: string; host: string; apiKey: string },
  path: string,
  parameters: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const headers = { host, authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const sent = request({ host: address, port: 7420, method: 'POST', path, headers }, async (answer) => {
      let text = '';
      for await (const chunk of answer.setEncoding('utf8')) text += chunk;
      if (answer.statusCode === 200) resolve(JSON.parse(text));
      else reject(new Error(`${path}: ${answer.statusCode} ${text}`));
    });
    sent.on('error', reject);
    sent.end(JSON.stringify(parameters));
  });
}
