/**
 * Servers beside a cluster, for as long as it lives: PostgreSQL and S3, reachable at one address from its Pods and from
 * the host. Each can be killed and started with the same address and data.
 */
import { type S3Server, startS3Server } from '../../archives/s3-server.ts';
import { type PostgresServer, startPostgres } from '../../store/postgres/server.ts';
import type { Cluster } from '../cluster.ts';
import { startRelay } from './relay.ts';

export interface ClusterPostgres extends Pick<PostgresServer, 'port' | 'query' | 'kill' | 'start'> {
  host: string;
  /** Creates an empty database, and returns its address for Pods and host, without the password. */
  database(): Promise<string>;
}

export interface ClusterS3 extends Pick<S3Server, 'client' | 'makeBucket' | 'keys' | 'damage' | 'age'> {
  /** With the endpoint for Pods and host. */
  options: S3Server['options'];
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** @param password Asked of every connection; none by default. */
export async function postgresFor(
  cluster: Cluster,
  options: { password?: string } = {},
): Promise<ClusterPostgres> {
  const server = await startPostgres(options);
  const host = cluster.hostAddress;
  await keepFor(cluster, { host, port: server.port }, server.stop);
  return {
    ...server,
    host,
    async database() {
      const url = new URL(await server.database());
      url.hostname = host;
      return url.href;
    },
  };
}

export async function s3For(cluster: Cluster): Promise<ClusterS3> {
  const server = await startS3Server();
  const endpoint = new URL(server.options.endpoint);
  endpoint.hostname = cluster.hostAddress;
  const address = { host: cluster.hostAddress, port: Number(endpoint.port) };
  await keepFor(cluster, address, server.stop);
  return {
    ...server,
    options: { ...server.options, endpoint: endpoint.origin },
    kill: server.pause,
    start: server.resume,
  };
}

async function keepFor(
  cluster: Cluster,
  address: { host: string; port: number },
  stop: () => Promise<void>,
): Promise<void> {
  cluster.onStop(stop);
  const relay = await startRelay(address);
  cluster.onStop(relay.close);
}
