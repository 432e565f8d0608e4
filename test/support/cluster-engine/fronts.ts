/**
 * The fronts of one installation's replicas: for the API, previews and SSH. They work in a thread of their own, since tests
 * block theirs while a program that calls the service runs.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Replica } from '../front/replicas.ts';

export type Door = 'api' | 'previews' | 'ssh';

export interface Fronts {
  /** Loopback ports, which stay. */
  ports: Record<Door, number>;
  /** Puts these behind the fronts, and resolves when all of them are ready. */
  set(replicas: Record<Door, Replica[]>): Promise<void>;
  close(): Promise<void>;
}

export async function startFronts(): Promise<Fronts> {
  const worker = new Worker(new URL('fronts-thread.ts', import.meta.url));
  worker.unref();
  const [ports] = (await once(worker, 'message')) as [Record<Door, number>];
  return {
    ports,
    async set(replicas) {
      worker.postMessage(replicas);
      await once(worker, 'message');
    },
    close: async () => void (await worker.terminate()),
  };
}
