/**
 * Work on one sandbox happens one piece at a time. The last piece pre-empts: what runs or waits is canceled,
 * and the last begins when that has cleaned up after itself.
 */
import { canceled } from './canceled.ts';

export interface Turns {
  run<T>(id: string, work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T>;
  preempt<T>(id: string, work: () => Promise<T>): Promise<T>;
  /** Whether something runs or waits for this sandbox. */
  busy(id: string): boolean;
  /** Cancels all and waits. */
  close(): Promise<void>;
}

interface Line {
  tail: Promise<unknown>;
  length: number;
  cancel: AbortController;
}

export function createTurns(): Turns {
  const lines = new Map<string, Line>();

  function enqueue<T>(id: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const line = lines.get(id) ?? { tail: Promise.resolve(), length: 0, cancel: new AbortController() };
    lines.set(id, line);
    line.length++;
    const { signal } = line.cancel;
    const result = line.tail.then(() => work(signal));
    line.tail = result
      .catch(() => {})
      .finally(() => {
        if (--line.length === 0) lines.delete(id);
      });
    return result;
  }

  function cancel(line: Line): void {
    line.cancel.abort(canceled());
    line.cancel = new AbortController();
  }

  return {
    run: (id, work, signal) =>
      enqueue(id, async (preempted) => {
        const either = signal ? AbortSignal.any([preempted, signal]) : preempted;
        either.throwIfAborted();
        return work(either);
      }),
    preempt(id, work) {
      const line = lines.get(id);
      if (line) cancel(line);
      return enqueue(id, work);
    },
    busy: (id) => lines.has(id),
    async close() {
      const all = [...lines.values()];
      for (const line of all) cancel(line);
      await Promise.all(all.map(({ tail }) => tail));
    },
  };
}
