/** Passes reports about networks of machines on to those who hear them; without anybody they are lost. */
import type { NetworkEvents } from '../../../control/ports/index.ts';
import type { NetworkReport } from '../../../model/network/event.ts';

export interface Reports extends NetworkEvents {
  report(this: void, reports: NetworkReport[]): void;
}

export function createReports(): Reports {
  const listeners: ((reports: NetworkReport[]) => void)[] = [];
  return {
    onReports: (listener) => void listeners.push(listener),
    report(reports) {
      for (const listener of listeners) listener(reports);
    },
  };
}
