/** The cluster and the services that are measured, and calls of their tools by kept connections. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, startCluster } from '../../test/cluster/cluster.ts';
import { type ClusterInstallation, installOn } from '../../test/cluster/kubernetes/installation.ts';
import { type ReplicaProcess, startReplica } from '../../test/cluster/kubernetes/replica.ts';
import { createEndpoint, send } from '../base/http.ts';
import { lowerRequests } from './overcommit.ts';

export interface Target {
  name: string;
  /** Rejects with the error of the tool. */
  tool(name: string, parameters: object): Promise<Record<string, unknown>>;
  close(): void;
}

export interface Ground extends AsyncDisposable {
  cluster: Cluster;
  installation: ClusterInstallation;
  /** Reference of the base image in the cluster's registry. */
  baseImage: string;
}

export interface Service extends Target, AsyncDisposable {
  process: ReplicaProcess;
}

const POOL_POLL_MS = 200;

/** Two nodes, PostgreSQL, and the images of a service. */
export async function prepareGround(): Promise<Ground> {
  const cluster = await startCluster({ nodes: 2 });
  try {
    // First: pushes of images block this process, and the API server ends connections that are idle meanwhile.
    await lowerRequests(cluster.api);
    const installation = await installOn(cluster);
    const baseImage = flagValue(installation.argv, '--base-image');
    return {
      ...{ cluster, installation, baseImage },
      async [Symbol.asyncDispose]() {
        installation.close();
        await cluster.stop();
      },
    };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

export interface Flavour {
  name: string;
  warmPool?: string;
  /** A PostgreSQL; null for a single process with SQLite, which is an installation of its own. */
  database?: string | null;
  env?: Record<string, string>;
}

export async function startOne({ installation }: Ground, flavour: Flavour): Promise<Service> {
  const { name, warmPool = '0', database = installation.database, env = {} } = flavour;
  const flags = without(without(installation.argv, '--warm-pool'), '--store');
  const argv = [...flags, '--warm-pool', warmPool, ...(database === null ? [] : ['--store', database])];
  const folder = database === null ? ownFolder(installation.folder) : installation.folder;
  const process = await startReplica({ ...installation, folder, argv, env }, name);
  const target = targetOf(name, process, installation.apiKey);
  return {
    ...target,
    process,
    async [Symbol.asyncDispose]() {
      target.close();
      await process.terminate();
    },
  };
}

export function targetOf(name: string, { url }: { url: string }, apiKey: string): Target {
  const { hostname, port } = new URL(url);
  const authorization = { authorization: `Bearer ${apiKey}` };
  const endpoint = createEndpoint({ host: hostname, port: Number(port) }, authorization);
  return {
    name,
    async tool(tool, parameters) {
      const body = Buffer.from(JSON.stringify(parameters));
      const reply = await send(endpoint, 'POST', `/v1/tools/Sandbox.${tool}`, { body });
      return JSON.parse(reply.body.toString());
    },
    close: () => endpoint.agent.destroy(),
  };
}

/** Resolves once that many sandboxes wait in the pool, and none is being made. */
export async function poolHas({ installation }: Ground, size: number, timeoutMs: number): Promise<void> {
  const waiting = `SELECT count(*) FILTER (WHERE operation IS NULL AND state = 'started') AS ready,
    count(*) FILTER (WHERE operation IS NOT NULL) AS busy FROM sandboxes WHERE owner_id IS NULL`;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const [row] = await installation.postgres.query(installation.database, waiting);
    if (Number(row?.['ready']) >= size && Number(row?.['busy']) === 0) return;
    if (performance.now() > deadline) throw new Error(`the pool has ${JSON.stringify(row)}, not ${size}`);
    await sleep(POOL_POLL_MS);
  }
}

export const here = (file: string): string => join(import.meta.dirname, file);

/** With another key: its Pods are not those of the replicas. */
function ownFolder(beside: string): string {
  const folder = join(beside, 'alone');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'secret.key'), Buffer.alloc(32, 9), { mode: 0o600 });
  return folder;
}

function flagValue(argv: string[], flag: string): string {
  return argv[argv.indexOf(flag) + 1] ?? '';
}

function without(argv: string[], flag: string): string[] {
  const at = argv.indexOf(flag);
  return at < 0 ? argv : argv.toSpliced(at, 2);
}
