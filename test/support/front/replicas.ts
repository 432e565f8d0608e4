/** The replicas behind a front: which of them are ready, by the rule of a Kubernetes Service, and whose turn it is. */
import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

export interface Replica {
  name: string;
  host: string;
  port: number;
  /** Where its readiness is asked for when that is another port, as for one that serves no HTTP. */
  probePort?: number;
}

/** As a readinessProbe of HTTP: any status from 200 to 399 is a success. */
export interface Probe {
  path: string;
  periodMs: number;
  timeoutMs: number;
  /** How many failures in a row make a ready replica unready; one success makes it ready. */
  failureThreshold: number;
}

export interface Replicas {
  /** Replaces all. One of the same name and address stays as ready as it is; others begin unready. */
  set(replicas: Replica[]): void;
  /** Names, in the order given. */
  ready(): string[];
  /** The ready ones in turn; null when there is none. */
  next(): Replica | null;
  close(): void;
}

interface Watched {
  replica: Replica;
  isReady: boolean;
  ending: AbortController;
}

export function watchReplicas(probe: Probe): Replicas {
  let watched: Watched[] = [];
  let turn = 0;
  const add = (replica: Replica): Watched => {
    const one = { replica, isReady: false, ending: new AbortController() };
    void watch(one, probe);
    return one;
  };
  const ready = () => watched.filter(({ isReady }) => isReady).map(({ replica }) => replica);
  return {
    set(replicas) {
      const kept = (wanted: Replica) => watched.find(({ replica }) => isSame(replica, wanted));
      const next = replicas.map((replica) => kept(replica) ?? add(replica));
      for (const one of watched) if (!next.includes(one)) one.ending.abort();
      watched = next;
    },
    ready: () => ready().map(({ name }) => name),
    next() {
      const all = ready();
      return all[turn++ % all.length] ?? null;
    },
    close() {
      for (const { ending } of watched) ending.abort();
      watched = [];
    },
  };
}

async function watch(one: Watched, probe: Probe): Promise<void> {
  const { signal } = one.ending;
  let failures = 0;
  while (!signal.aborted) {
    if (await isReady(one.replica, probe, signal)) failures = 0;
    else failures += 1;
    if (failures === 0) one.isReady = true;
    if (failures >= probe.failureThreshold) one.isReady = false;
    await delay(probe.periodMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/** Opens a connection of its own, as the kubelet does. */
function isReady(
  { host, port, probePort = port }: Replica,
  probe: Probe,
  ending: AbortSignal,
): Promise<boolean> {
  return new Promise((resolve) => {
    const signal = AbortSignal.any([ending, AbortSignal.timeout(probe.timeoutMs)]);
    const agent = new Agent({ keepAlive: false });
    get({ host, port: probePort, path: probe.path, agent, signal }, ({ statusCode = 0, socket }) => {
      resolve(statusCode >= 200 && statusCode < 400);
      socket.destroy();
    }).on('error', () => resolve(false));
  });
}

function isSame(one: Replica, other: Replica): boolean {
  const isThere = one.host === other.host && one.port === other.port;
  return one.name === other.name && isThere && one.probePort === other.probePort;
}
