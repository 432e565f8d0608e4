/** The thread of the fronts: answers with their ports first, and to each set of replicas once all of them are ready. */
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
import { startFront } from '../front/front.ts';
import type { Replica } from '../front/replicas.ts';
import type { Door } from './fronts.ts';

const POLL_MS = 20;

const fronts = {
  api: await startFront({ mode: 'requests', replicas: [] }),
  previews: await startFront({ mode: 'connections', replicas: [] }),
  ssh: await startFront({ mode: 'connections', replicas: [] }),
};
const doors = Object.keys(fronts) as Door[];

parentPort?.on('message', async (replicas: Record<Door, Replica[]>) => {
  for (const door of doors) fronts[door].setReplicas(replicas[door]);
  const areReady = () => doors.every((door) => fronts[door].ready().length === replicas[door].length);
  while (!areReady()) await delay(POLL_MS);
  parentPort?.postMessage('ready');
});
parentPort?.postMessage(Object.fromEntries(doors.map((door) => [door, fronts[door].port])));
