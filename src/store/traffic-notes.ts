/** Counts of the day's traffic, in a file of the data directory. A copy of the store leaves them behind. */
import type { TrafficNotes } from '../control/ports/index.ts';
import { readIfThere, replaceFileAside } from './durable-file.ts';

export function trafficNotes(file: string): TrafficNotes {
  return {
    read: () => readIfThere(file)?.toString() ?? null,
    write: (text) => replaceFileAside(file, Buffer.from(text)),
  };
}
