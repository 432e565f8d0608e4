/**
 * Reads the rights of open work anew: when this replica listens again after a time in which it may have missed the end of
 * some, and every now and then, since the sender of a message may be gone before it is sent. Open work ends when nobody
 * could read its right for long.
 */
import { limits } from '../../model/limits.ts';
import type { Log, Replicas } from '../ports/index.ts';

export interface OpenWork {
  /** Ends what has no right any more. Rejects when the store cannot be read. */
  recheck(): Promise<void>;
  endAll(): void;
}

export interface RightsCheckDependencies {
  open: readonly OpenWork[];
  replicas: Pick<Replicas, 'onGap'>;
  log: Pick<Log, 'warn'>;
}

export class RightsCheck {
  readonly #deps: RightsCheckDependencies;
  #timer: NodeJS.Timeout | null = null;
  #turn: Promise<void> | null = null;
  #again = false;
  /** Begin of the last check that read all rights, by the monotonic clock. */
  #checkedAt = performance.now();

  constructor(dependencies: RightsCheckDependencies) {
    this.#deps = dependencies;
  }

  begin(): void {
    this.#checkedAt = performance.now();
    this.#deps.replicas.onGap(() => void this.turn());
    this.#timer = setInterval(() => void this.turn(), limits.replicas.recheckMs);
  }

  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    this.#again = false;
    await this.#turn;
  }

  /** Checks once; again after a check in progress, which may have read a right before its end. */
  turn(): Promise<void> {
    this.#again = true;
    this.#turn ??= this.#checks().finally(() => {
      this.#turn = null;
    });
    return this.#turn;
  }

  async #checks(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      await this.#check();
    }
  }

  async #check(): Promise<void> {
    const { open, log } = this.#deps;
    const begun = performance.now();
    try {
      for (const each of open) await each.recheck();
      this.#checkedAt = begun;
    } catch (error) {
      const isLate = performance.now() - this.#checkedAt > limits.replicas.uncheckedMs;
      log.warn('the rights of open connections could not be checked', { ended: isLate, error });
      if (isLate) for (const each of open) each.endAll();
    }
  }
}
