/**
 * A whole that owners take parts of and give back, where waiting makes sense: each owner has a share of it and a line of
 * his own, and the lines are served in turn. Whoever asks for more than his share waits behind himself alone.
 */
import { SandhavenError } from './errors.ts';

export interface FairQueueOptions {
  /** Held by all owners together. */
  total: number;
  /** Held by one owner. */
  perOwner: number;
  /** Requests of one owner that wait. */
  waiting: number;
  /** How long one waits, in milliseconds. */
  waitMs: number;
  /** Continues "3 …": `images are being pulled`. */
  what: string;
}

interface Waiter {
  amount: number;
  begin(): void;
}

export class FairQueue {
  readonly #options: FairQueueOptions;
  readonly #held = new Map<string, number>();
  /** The owner who is served next comes first. */
  readonly #lines = new Map<string, Waiter[]>();
  #total = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  /**
   * Waits for `amount`, at most an owner's share. Fails with `resource_exhausted` when too many of the owner wait or the
   * wait is too long, and with the signal's reason when that is aborted before.
   * @returns Gives it back; further calls of it do nothing.
   */
  async take(owner: string, amount = 1, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (amount > this.#options.perOwner) throw this.#exhausted(owner);
    const isFirst = !this.#lines.has(owner);
    // Nobody whose share has room is passed by.
    if (isFirst && this.#hasShare(owner, amount) && this.#isNext(amount)) this.#add(owner, amount);
    else await this.#wait(owner, amount, signal);
    let taken = true;
    return () => {
      if (taken) this.#add(owner, -amount);
      taken = false;
      this.#serve();
    };
  }

  /** Held by one owner now. */
  of(owner: string): number {
    return this.#held.get(owner) ?? 0;
  }

  /** Held by all now. */
  get total(): number {
    return this.#total;
  }

  #wait(owner: string, amount: number, signal: AbortSignal | undefined): Promise<void> {
    const line = this.#lines.get(owner) ?? [];
    if (line.length >= this.#options.waiting) return Promise.reject(this.#exhausted(owner));
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
          this.#add(owner, amount);
          resolve();
        },
      };
      const aborted = () => giveUp(signal?.reason);
      const timer = setTimeout(() => giveUp(this.#exhausted(owner)), this.#options.waitMs);
      signal?.addEventListener('abort', aborted, { once: true });
      line.push(waiter);
    });
  }

  /** One of each owner in turn. A large amount that only the whole has no room for holds up what comes after it. */
  #serve(): void {
    for (let served = true; served; ) {
      served = false;
      for (const [owner, line] of [...this.#lines]) {
        const next = line[0];
        if (!next || !this.#hasShare(owner, next.amount)) continue;
        if (this.#total + next.amount > this.#options.total) return;
        next.begin();
        served = true;
        if (this.#lines.delete(owner)) this.#lines.set(owner, line);
      }
    }
  }

  #isNext(amount: number): boolean {
    const isOwed = [...this.#lines].some(([owner, [next]]) => next && this.#hasShare(owner, next.amount));
    return !isOwed && this.#total + amount <= this.#options.total;
  }

  #hasShare(owner: string, amount: number): boolean {
    return this.of(owner) + amount <= this.#options.perOwner;
  }

  #add(owner: string, amount: number): void {
    this.#total += amount;
    const held = this.of(owner) + amount;
    if (held > 0) this.#held.set(owner, held);
    else this.#held.delete(owner);
  }

  #exhausted(owner: string): SandhavenError {
    const { perOwner, what } = this.#options;
    const detail = `${this.of(owner)} ${what} for you; your share is ${perOwner}.`;
    return new SandhavenError('resource_exhausted', detail, {
      hint: 'Wait for some of them to end, then try again.',
      retryable: true,
    });
  }
}
