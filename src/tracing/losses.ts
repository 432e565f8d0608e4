/** Counts spans that no collector got, and warns of them at most once a minute: a dead one must not fill the log. */
import type { Log } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';

export interface Losses {
  /** @param reason No text of the collector. */
  add(spans: number, reason: string): void;
  /** Warns of those that no warning has counted, and counts no more. */
  close(): void;
}

export function countLosses(log: Pick<Log, 'warn'>, warningMs: number = limits.traces.warningMs): Losses {
  let lost = 0;
  let last = '';
  let isClosed = false;
  let timer: NodeJS.Timeout | null = null;
  const warn = () => {
    if (lost > 0) log.warn('spans of traces were lost', { spans: lost, reason: last });
    lost = 0;
  };
  const rest = () => {
    timer = setTimeout(() => {
      timer = null;
      if (lost === 0) return;
      warn();
      rest();
    }, warningMs);
    timer.unref();
  };
  return {
    add(spans, reason) {
      if (isClosed) return;
      lost += spans;
      last = reason;
      if (timer) return;
      warn();
      rest();
    },
    close() {
      isClosed = true;
      if (timer) clearTimeout(timer);
      warn();
    },
  };
}
