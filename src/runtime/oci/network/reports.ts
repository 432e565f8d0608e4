/** Passes reports about networks of machines on to those who hear them; without anybody they are lost. */
import type { NetworkEvents } from '../../../control/ports/index.ts';
import type { NetworkReport } from '../../../model/network/traffic.ts';

export interface Reports extends NetworkEvents {
  report(this: void, reports: NetworkReport[]): void;
}

/** @param ownerOf Returns the id itself for a machine without an owner. */
export function createReports(ownerOf: (id: string) => string): Reports {
  const listeners: ((reports: NetworkReport[]) => void)[] = [];
  return {
    onReports: (listener) => void listeners.push(listener),
    ownerOf(id) {
      const owner = ownerOf(id);
      return owner === id ? null : owner;
    },
    report(reports) {
      for (const listener of listeners) listener(reports);
    },
  };
}
