/** What replicas of one service need of a test cluster: images, a PostgreSQL, a key; and calls of their tools. */
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cluster } from '../cluster.ts';
import { type ClusterPostgres, postgresFor } from '../companions/companions.ts';
import { forwardTo, hostAddress, pushAgent, pushBase } from './host.ts';
import { type Installation, type ReplicaProcess, writeKey } from './replica.ts';

export interface ClusterInstallation extends Installation {
  postgres: ClusterPostgres;
  /** URL of the store that all replicas share. */
  database: string;
  /** Removes its files; replicas have ended, and PostgreSQL ends with the cluster. */
  close(): void;
}

export type Body = Record<string, unknown>;

const API_KEY = `shv_${'k'.repeat(43)}`;

/** @param options Flags of `sandhaven up` beside those of the installation. */
export async function installOn(cluster: Cluster, options: string[] = []): Promise<ClusterInstallation> {
  const folder = mkdtempSync(join(tmpdir(), 'sandhaven-replicas-'));
  const mirror = await forwardTo(cluster.registry);
  const postgres = await postgresFor(cluster);
  const database = await postgres.database();
  writeKey(folder);
  return {
    ...{ folder, apiKey: API_KEY, postgres, database },
    argv: [
      ...['--warm-pool', '0', '--store', database],
      ...['--runtime', 'kubernetes', '--kubeconfig', cluster.kubeconfig, '--namespace', 'default'],
      ...['--agent-image', pushAgent(cluster.registry), '--base-image', pushBase(cluster.registry)],
      ...['--agent-clients', `${hostAddress(cluster)}/32`],
      // The service speaks plain HTTP with registries on its own machine alone.
      ...['--registry-mirror', `${cluster.registry}=127.0.0.1:${(mirror.address() as AddressInfo).port}`],
      ...options,
    ],
    close() {
      mirror.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Calls a tool, and returns its answer or its error. */
export async function call(
  { url }: Pick<ReplicaProcess, 'url'>,
  tool: string,
  parameters: object,
  headers: Record<string, string> = {},
): Promise<Body> {
  const answer = await fetch(`${url}/v1/tools/Sandbox.${tool}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(parameters),
  });
  return (await answer.json()) as Body;
}

/** Like `call`; rejects with the error of the tool. */
export async function ok(...given: Parameters<typeof call>): Promise<Body & { id: string }> {
  const body = (await call(...given)) as Body & { id: string };
  if ('code' in body) throw new Error(`${given[1]}: ${JSON.stringify(body)}`);
  return body;
}
