/**
 * Makes a loopback port of the host reachable from a cluster's Pods, at the host's address in its network. It works in a
 * thread of its own: a test that waits for a command in a Pod blocks its own.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export interface Relay {
  close(): Promise<void>;
}

export interface RelayAddress {
  /** Where it listens. */
  host: string;
  /** The same on both sides. */
  port: number;
}

/** Resolves when it listens. It refuses connections, as far as one can after accepting, while nobody listens behind it. */
export async function startRelay(address: RelayAddress): Promise<Relay> {
  const worker = new Worker(new URL('relay-thread.ts', import.meta.url), { workerData: address });
  worker.unref();
  await once(worker, 'message');
  return { close: async () => void (await worker.terminate()) };
}
