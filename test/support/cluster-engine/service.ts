/**
 * The service of a test on the other engine: two replicas over the run's cluster, with a database, a key and a place for
 * archives of their own, behind fronts. `restart`, `kill` and `terminate` mean both of them.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { installationOf, secretsOf } from '../../../src/store/files/secrets.ts';
import {
  type Installation,
  type ReplicaProcess,
  startReplica,
  writeKey,
} from '../../cluster/kubernetes/replica.ts';
import type { Service, ServiceOptions } from '../service.ts';
import { createDatabase } from './database.ts';
import { type Fronts, startFronts } from './fronts.ts';
import { removeInstance } from './remove-instance.ts';

export interface ClusterService extends Service {
  /** Those that run, each by its own address. */
  replicas(): ReplicaProcess[];
}

const NAMES = ['one', 'two'];

export async function startClusterService(options: ServiceOptions = {}): Promise<ClusterService> {
  const { env = {}, flags = [], dataDir, standardGateways = false } = options;
  if (standardGateways) throw new Error('replicas on one machine cannot all have the standard addresses');
  const engine = inject('clusterEngine');
  const folder = dataDir ?? mkdtempSync(join(tmpdir(), 'sandhaven-cluster-service-'));
  mkdirSync(folder, { recursive: true });
  const key = randomBytes(32);
  const instance = installationOf(secretsOf(key));
  writeKey(folder, key);
  const fronts = await startFronts();
  const apiKey = env['SANDBOX_API_KEY'] ?? `shv_${randomBytes(32).toString('base64url')}`;
  const database = await createDatabase(engine.postgres, `store_${instance}`);
  const installation: Installation = {
    ...{ folder, apiKey },
    argv: [...flagsOf(engine, fronts, { database: database.url, instance }), ...flags],
    env: {
      AWS_ACCESS_KEY_ID: engine.s3.accessKeyId,
      AWS_SECRET_ACCESS_KEY: engine.s3.secretAccessKey,
      ...env,
    },
  };
  let running: ReplicaProcess[] = [];
  let earlier = '';
  let isStopped = false;

  async function launch(): Promise<void> {
    const started = await Promise.allSettled(NAMES.map((name) => startReplica(installation, name)));
    running = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const failed = started.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
    const behind = (portOf: (replica: ReplicaProcess) => number) =>
      running.map((replica) => {
        const { name, host, port } = replica;
        return { name, host, port: portOf(replica), probePort: port };
      });
    await fronts.set({
      api: behind(({ port }) => port),
      previews: behind(({ previews }) => previews),
      ssh: behind(({ ssh }) => ssh),
    });
    service.pid = running[0]?.pid ?? 0;
  }

  async function end(how: 'kill' | 'terminate'): Promise<number | null> {
    const ending = running;
    const statuses = await Promise.all(ending.map((replica) => replica[how]()));
    earlier += ending.map(({ log }) => log()).join('');
    running = [];
    return statuses.find((status) => typeof status === 'number' && status !== 0) ?? statuses[0] ?? null;
  }

  const service: ClusterService = {
    url: `http://127.0.0.1:${fronts.ports.api}`,
    apiKey,
    dataDir: folder,
    pid: 0,
    replicas: () => running,
    log: () => earlier + running.map(({ log }) => log()).join(''),
    changeStore: database.change,
    storeText: database.text,
    terminate: () => end('terminate'),
    kill: async () => void (await end('kill')),
    async restart() {
      await end('terminate');
      await launch();
    },
    async stop() {
      if (isStopped) return;
      isStopped = true;
      // Killed: nothing is kept of it, and a drain takes seconds.
      await end('kill');
      await fronts.close();
      await Promise.all([removeInstance(engine.kubeconfig, instance), database.drop()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await launch().catch(async (error: unknown) => {
    await service.stop().catch(() => undefined);
    throw error;
  });
  return service;
}

type Engine = ReturnType<typeof inject<'clusterEngine'>>;

function flagsOf(engine: Engine, { ports }: Fronts, own: { database: string; instance: string }): string[] {
  return [
    ...['--warm-pool', '0', '--store', own.database],
    ...['--archive-store', `s3://${engine.s3.bucket}/${own.instance}`, '--s3-endpoint', engine.s3.endpoint],
    ...['--runtime', 'kubernetes', '--kubeconfig', engine.kubeconfig, '--namespace', 'default'],
    ...['--agent-image', engine.agentImage, '--base-image', engine.baseImage],
    ...['--agent-clients', engine.clients, '--storage-class', 'growing-test-disk'],
    ...['--public-url', `http://127.0.0.1:${ports.api}`],
    ...['--preview-url', `http://*.localhost:${ports.previews}`],
    ...['--ssh-public', `127.0.0.1:${ports.ssh}`],
  ];
}
