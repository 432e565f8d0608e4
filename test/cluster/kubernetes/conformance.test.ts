/** The suite that every runtime runs, on Pods of a real cluster. */
import { afterAll } from 'vitest';
import type { Runtime } from '../../../src/control/ports/index.ts';
import { type Inside, runtimeConformance } from '../../runtime/conformance.ts';
import { type Cluster, startCluster } from '../cluster.ts';
import { storeFor } from './archive-store.ts';
import { agentOf, openHost, sh, tracesOf } from './host.ts';
import { endAgent } from './processes.ts';

let cluster: Cluster | null = null;
afterAll(() => cluster?.stop());

runtimeConformance(
  'the Kubernetes runtime',
  async () => {
    cluster = await startCluster({ nodes: 2 });
    const started = cluster;
    const store = await storeFor(started);
    const host = await openHost(started, { remoteArchives: store.open });
    let runtime: Runtime = await host.open();
    return {
      runtime,
      async again() {
        await runtime.close();
        runtime = await host.open();
        return runtime;
      },
      imageDigest: 'base',
      inside,
      damageArchive: async (id) => store.damage(id),
      exchangeArchives: store.exchange,
      traces: (id) => tracesOf(started, id),
      remove: () => runtime.close(),
    };
  },
  // Two nodes of two processors, as this machine has.
  { atOnce: 3 },
);

const inside: Inside = {
  async write(runtime, id, name, text) {
    const content = Buffer.from(text);
    await agentOf(runtime).write(id, {
      path: `/workspace/${name}`,
      content,
      createParents: false,
      durable: true,
    });
  },
  async read(runtime, id, name) {
    const text = await sh(runtime, id, `cat /workspace/${name} 2>/dev/null || echo absent`);
    return text === 'absent' ? null : text;
  },
  boot: (runtime, id) => sh(runtime, id, 'hostname; cut -d " " -f 22 /proc/1/stat'),
  // The agent takes no such signal from inside.
  async endInit(_, id) {
    for (const node of cluster?.nodes ?? []) endAgent(node, id);
  },
};
