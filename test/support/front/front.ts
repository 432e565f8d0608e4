/**
 * Spreads the connections or requests of clients over the replicas of a service, in turn, as a Kubernetes Service or an
 * HTTP balancer before it does: a replica whose readiness fails gets nothing new and keeps what it has. It tries no
 * request twice.
 *
 * It runs in the process of the test: while that blocks, nothing passes.
 */
import type { AddressInfo, Server } from 'node:net';
import { serveConnections } from './connections.ts';
import { type Probe, type Replica, watchReplicas } from './replicas.ts';
import { serveRequests } from './requests.ts';

export interface FrontOptions {
  /**
   * `connections` passes bytes, and all that one connection carries reaches one replica. `requests` passes each request of
   * HTTP/1.1 by itself, names its replica in the header `x-served-by`, and answers 502 and 503 for missing ones.
   */
  mode: 'connections' | 'requests';
  replicas: Replica[];
  /** By default each 200 ms to `/readyz`, which takes a second at most; two failures take a replica out. */
  probe?: Partial<Probe>;
}

/** One connection or request, from the moment that its replica was chosen. */
export interface Served {
  /** Null when none was ready. */
  replica: string | null;
  /** Of a request, such as `GET /v1/sandboxes`; empty for a connection. */
  request: string;
}

export interface Front {
  port: number;
  /** Such as `http://127.0.0.1:4000`. */
  url: string;
  /** Names of the replicas that get new work. */
  ready(): string[];
  setReplicas(replicas: Replica[]): void;
  /** The latest 10 000, oldest first. */
  served: Served[];
  /** Ends all connections. */
  close(): Promise<void>;
}

const PROBE: Probe = { path: '/readyz', periodMs: 200, timeoutMs: 1_000, failureThreshold: 2 };
const MAX_SERVED = 10_000;

/** Resolves when it listens on a loopback port; replicas become ready a moment later. */
export async function startFront({ mode, replicas, probe }: FrontOptions): Promise<Front> {
  const watched = watchReplicas({ ...PROBE, ...probe });
  watched.set(replicas);
  const served: Served[] = [];
  const choose = (request: string) => {
    const replica = watched.next();
    served.push({ replica: replica?.name ?? null, request });
    if (served.length > MAX_SERVED) served.shift();
    return replica;
  };
  const { server, closeConnections } = mode === 'requests' ? serveRequests(choose) : serveConnections(choose);
  const port = await listen(server);
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    ready: watched.ready,
    setReplicas: watched.set,
    served,
    close() {
      watched.close();
      return new Promise((resolve) => {
        server.close(() => resolve());
        closeConnections();
      });
    },
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}
