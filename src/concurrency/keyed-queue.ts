/**
 * Queue for each key. Work of one key runs one piece at a time, in order of arrival. A pre-empting piece rejects the
 * waiting pieces, cancels the running one, and begins when that one has ended. Each runs in the asynchronous context of who
 * asked for it, not of the piece before it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface KeyedQueueOptions {
  /** Pieces that may wait for one key; unbounded by default. */
  maxWaiting?: number;
  /** Error for a piece that finds `maxWaiting` others waiting. */
  full?(): Error;
  /** Error for a piece that a pre-empting one rejects, and abort reason of the running one. */
  preempted(): Error;
  /** Rejects every arrival while a pre-empting piece waits or runs; otherwise it queues behind that piece. */
  rejectsWhilePreempting?: boolean;
}

type Work<T> = (signal: AbortSignal) => Promise<T>;

/** Work of all keys at this moment. */
export interface QueueLoad {
  running: number;
  waiting: number;
  /** Of the piece that has waited longest; 0 when none waits. */
  longestWaitMs: number;
}

interface Piece {
  /** Its arrival. */
  since: number;

  begin(): void;
  /** Absent for a pre-empting piece, which cannot be rejected. */
  turnAway?(error: Error): void;
}

interface Line {
  waiting: Piece[];
  running: AbortController | null;
  /** Number of pre-empting pieces that wait or run. */
  preempting: number;
  /** Resolves when the last piece has ended and the line is gone. */
  ended: Promise<void>;
  end(): void;
}

export class KeyedQueue {
  readonly #options: KeyedQueueOptions;
  readonly #lines = new Map<string, Line>();

  constructor(options: KeyedQueueOptions) {
    this.#options = options;
  }

  /**
   * Runs `work` when all pieces before it have ended.
   * @param signal Cancels the piece: a waiting one rejects with the signal's reason when its turn comes.
   */
  run<T>(key: string, work: Work<T>, signal?: AbortSignal): Promise<T> {
    const { maxWaiting = Number.POSITIVE_INFINITY, full } = this.#options;
    const line = this.#line(key);
    const refusal = this.#refusal(line) ?? (line.waiting.length >= maxWaiting ? full?.() : undefined);
    if (refusal) return Promise.reject(refusal);
    return new Promise<T>((resolve, reject) => {
      const begin = () => this.#begin(key, line, cancelable(work, signal)).then(resolve, reject);
      this.#enqueue(line, { since: performance.now(), begin, turnAway: reject });
    });
  }

  /** Runs `work` before all waiting pieces, which reject; the running one is cancelled and awaited. */
  preempt<T>(key: string, work: Work<T>): Promise<T> {
    const line = this.#line(key);
    const refusal = this.#refusal(line);
    if (refusal) return Promise.reject(refusal);
    line.preempting++;
    this.#cancel(line);
    return new Promise<T>((resolve, reject) => {
      const begin = () => {
        this.#begin(key, line, work)
          .finally(() => line.preempting--)
          .then(resolve, reject);
      };
      this.#enqueue(line, { since: performance.now(), begin });
    });
  }

  /** Rejects the waiting pieces of the key and cancels the running one; a pre-empting piece still comes to its turn. */
  cancel(key: string): void {
    const line = this.#lines.get(key);
    if (line) this.#cancel(line);
  }

  /** Resolves when no piece of this key runs or waits. */
  async idle(key: string): Promise<void> {
    await this.#lines.get(key)?.ended;
  }

  busy(key: string): boolean {
    return this.#lines.has(key);
  }

  /** Resolves when no piece of any key runs or waits. */
  async drained(): Promise<void> {
    while (this.#lines.size > 0) await Promise.all([...this.#lines.values()].map(({ ended }) => ended));
  }

  /** Cancels every piece, and resolves when all have ended. */
  async close(): Promise<void> {
    for (const line of this.#lines.values()) this.#cancel(line);
    await this.drained();
  }

  /** Looks at each key with work. */
  load(): QueueLoad {
    const lines = [...this.#lines.values()];
    const now = performance.now();
    const oldest = lines.reduce((so, { waiting: [next] }) => Math.min(so, next?.since ?? now), now);
    return {
      running: lines.filter(({ running }) => running !== null).length,
      waiting: lines.reduce((sum, { waiting }) => sum + waiting.length, 0),
      longestWaitMs: now - oldest,
    };
  }

  #refusal(line: Line): Error | undefined {
    const refuses = this.#options.rejectsWhilePreempting && line.preempting > 0;
    return refuses ? this.#options.preempted() : undefined;
  }

  #cancel(line: Line): void {
    const kept = line.waiting.filter(({ turnAway }) => turnAway === undefined);
    for (const { turnAway } of line.waiting.splice(0)) turnAway?.(this.#options.preempted());
    line.waiting.push(...kept);
    line.running?.abort(this.#options.preempted());
  }

  #line(key: string): Line {
    let line = this.#lines.get(key);
    if (!line) {
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      line = { waiting: [], running: null, preempting: 0, ended, end };
      this.#lines.set(key, line);
    }
    return line;
  }

  #enqueue(line: Line, piece: Piece): void {
    if (line.running) line.waiting.push({ ...piece, begin: AsyncLocalStorage.bind(piece.begin) });
    else piece.begin();
  }

  async #begin<T>(key: string, line: Line, work: Work<T>): Promise<T> {
    const controller = new AbortController();
    line.running = controller;
    try {
      return await work(controller.signal);
    } finally {
      line.running = null;
      const next = line.waiting.shift();
      if (next) next.begin();
      else {
        this.#lines.delete(key);
        line.end();
      }
    }
  }
}

/** Returns `work` with both signals in one; rejects at once when one is aborted already. */
function cancelable<T>(work: Work<T>, signal: AbortSignal | undefined): Work<T> {
  if (!signal) return work;
  return async (preempted) => {
    const either = AbortSignal.any([preempted, signal]);
    either.throwIfAborted();
    return work(either);
  };
}
