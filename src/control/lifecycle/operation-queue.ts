/**
 * One line of operations per sandbox. They run one at a time, in the order they came; a pre-empting one
 * (delete) turns the waiting ones away, tells the running one to give up, and goes next.
 */
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';

type Work<T> = (signal: AbortSignal) => Promise<T>;

interface Line {
  waiting: { begin(): void; turnAway(error: Error): void }[];
  running: AbortController | null;
  preempting: boolean;
  /** Resolves when the last operation has ended and the line is gone. */
  ended: Promise<void>;
  end(): void;
}

export class OperationQueue {
  readonly #lines = new Map<string, Line>();

  /** Runs `work` when all operations before it have ended. Fails with `resource_exhausted` on a full line. */
  run<T>(id: string, work: Work<T>): Promise<T> {
    const line = this.#line(id);
    if (line.preempting) return Promise.reject(beingDeleted());
    if (line.waiting.length >= limits.queuedOperations) {
      return Promise.reject(
        new SandhavenError('resource_exhausted', 'Too many operations wait for this sandbox.', {
          hint: 'Wait for the earlier ones to end, then try again.',
          retryable: true,
        }),
      );
    }
    return this.#enqueue(id, line, work);
  }

  /** As `run`, ahead of everything: what waits fails, what runs is aborted and awaited. */
  preempt<T>(id: string, work: Work<T>): Promise<T> {
    const line = this.#line(id);
    if (line.preempting) return Promise.reject(beingDeleted());
    line.preempting = true;
    for (const waiter of line.waiting.splice(0)) waiter.turnAway(beingDeleted());
    line.running?.abort(beingDeleted());
    return this.#enqueue(id, line, work).finally(() => {
      line.preempting = false;
    });
  }

  /** Resolves when no operation of this sandbox runs or waits. */
  async idle(id: string): Promise<void> {
    await this.#lines.get(id)?.ended;
  }

  busy(id: string): boolean {
    return this.#lines.has(id);
  }

  /** Resolves when no operation of any sandbox runs or waits. */
  async drained(): Promise<void> {
    while (this.#lines.size > 0) await Promise.all([...this.#lines.values()].map(({ ended }) => ended));
  }

  #line(id: string): Line {
    let line = this.#lines.get(id);
    if (!line) {
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      line = { waiting: [], running: null, preempting: false, ended, end };
      this.#lines.set(id, line);
    }
    return line;
  }

  #enqueue<T>(id: string, line: Line, work: Work<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const begin = () => {
        const controller = new AbortController();
        line.running = controller;
        work(controller.signal)
          .then(resolve, reject)
          .finally(() => {
            line.running = null;
            const next = line.waiting.shift();
            if (next) next.begin();
            else {
              this.#lines.delete(id);
              line.end();
            }
          });
      };
      if (line.running) line.waiting.push({ begin, turnAway: reject });
      else begin();
    });
  }
}

function beingDeleted(): SandhavenError {
  return new SandhavenError('invalid_state', 'The sandbox is being deleted.', {
    parameter: 'sandbox',
    hint: 'Create another sandbox.',
  });
}
