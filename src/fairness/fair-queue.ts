/**
 * Fair queue of a bounded total that owners take parts of and give back: each owner has a share and a line of their
 * own, and the lines are served in turn. An owner at the share waits behind their own requests alone.
 */
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../model/limits.ts';
import { type Release, Shares, type SharesOptions } from './shares.ts';

export interface FairQueueOptions extends SharesOptions {
  /** Waiting requests of one owner. */
  waiting: number;
  /** Longest wait, in milliseconds; unbounded by default. */
  waitMs?: number;
}

interface Waiter {
  amount: number;
  /** Takes the amount that it waits for. */
  begin(): void;
}

export class FairQueue {
  readonly #options: FairQueueOptions;
  readonly #shares: Shares;
  /** Lines by owner; the next one to serve comes first. */
  readonly #lines = new Map<string, Waiter[]>();

  constructor(options: FairQueueOptions) {
    this.#options = options;
    this.#shares = new Shares(options);
  }

  /**
   * Waits for `amount`, at most an owner's share. Rejects with `resource_exhausted` when too many of the owner's
   * requests wait or the wait is too long, and with the signal's reason when it is aborted before.
   */
  async take(owner: string, amount = 1, signal?: AbortSignal): Promise<Release> {
    signal?.throwIfAborted();
    if (amount > this.#options.perOwner) throw this.#shares.refusal(owner, amount);
    const isFirst = !this.#lines.has(owner);
    // A waiting owner whose share has room goes first.
    const isNext = isFirst && this.#shares.hasShare(owner, amount) && this.#isNext(amount);
    const release = isNext ? this.#shares.take(owner, amount) : await this.#wait(owner, amount, signal);
    return (kept) => {
      release(kept);
      this.#serve();
    };
  }

  /** Amount that one owner holds now. */
  of(owner: string): number {
    return this.#shares.of(owner);
  }

  /** Amount that all owners hold now. */
  get total(): number {
    return this.#shares.total;
  }

  #wait(owner: string, amount: number, signal: AbortSignal | undefined): Promise<Release> {
    const line = this.#lines.get(owner) ?? [];
    const refusal = () => this.#shares.refusal(owner, amount);
    if (line.length >= this.#options.waiting) return Promise.reject(refusal());
    this.#lines.set(owner, line);
    return new Promise((resolve, reject) => {
      const over = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', aborted);
        line.splice(line.indexOf(waiter), 1);
        if (line.length === 0) this.#lines.delete(owner);
      };
      const giveUp = (reason: unknown) => {
        over();
        reject(reason);
        this.#serve();
      };
      const waiter: Waiter = {
        amount,
        begin: () => {
          over();
          resolve(this.#shares.take(owner, amount));
        },
      };
      const aborted = () => giveUp(signal?.reason);
      const { waitMs } = this.#options;
      const timer = waitMs === undefined ? undefined : setTimeout(() => giveUp(refusal()), waitMs);
      signal?.addEventListener('abort', aborted, { once: true });
      line.push(waiter);
    });
  }

  /**
   * Serves one request of each owner in turn. A large amount that only the total has no room for blocks those after it.
   */
  #serve(): void {
    for (let served = true; served; ) {
      served = false;
      for (const [owner, line] of [...this.#lines]) {
        const next = line[0];
        if (!next || !this.#shares.hasShare(owner, next.amount)) continue;
        if (!this.#shares.hasRoom(next.amount)) return;
        next.begin();
        served = true;
        if (this.#lines.delete(owner)) this.#lines.set(owner, line);
      }
    }
  }

  #isNext(amount: number): boolean {
    const shares = this.#shares;
    const isOwed = [...this.#lines].some(([owner, [next]]) => next && shares.hasShare(owner, next.amount));
    return !isOwed && shares.hasRoom(amount);
  }
}

/**
 * Queue of work that holds the thread: one piece at a time, for each owner in turn, then a pause of equal length. An
 * owner with much work takes half of the thread's time at most, and other work runs between any two pieces.
 */
export class LongWork {
  readonly #turns: FairQueue;

  /** @param what Continues "1 …": `large bodies are being read`. */
  constructor(what: string) {
    this.#turns = new FairQueue({ ...limits.shares.longWork, what });
  }

  /**
   * Rejects as the work does; with `resource_exhausted` after too long a wait; with the signal's reason when it is
   * aborted before the work begins.
   */
  async run<T>(owner: string, work: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
    const done = await this.#turns.take(owner, 1, signal);
    await setImmediate();
    const begun = performance.now();
    try {
      return await work();
    } finally {
      void sleep(performance.now() - begun).then(() => done());
    }
  }
}
