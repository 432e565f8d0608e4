/**
 * Bound that all owners share, with a limit for each: one owner who takes the whole share leaves the rest to the
 * others. Counts only; a `FairQueue` adds waiting.
 */
import { SandhavenError } from '../model/errors.ts';

export interface SharesOptions {
  /** Bound for all owners together. */
  total: number;
  /** Bound for one owner. */
  perOwner: number;
  /** Continues "512 …": `requests are already in progress`. */
  what: string;
}

/** The amount that is taken now, and the number of refusals so far. */
export interface Load {
  readonly total: number;
  readonly refused: number;
}

/** Gives a part of a share back: all of it, or all but `kept`. Does nothing for what is given back already. */
export type Release = (kept?: number) => void;

export class Shares implements Load {
  readonly #options: SharesOptions;
  readonly #held = new Map<string, number>();
  #total = 0;
  #refused = 0;

  constructor(options: SharesOptions) {
    this.#options = options;
  }

  /**
   * Takes `amount`, at least 1, for an owner. Throws `resource_exhausted`, and takes nothing, when it would exceed the
   * owner's share or the total.
   */
  take(owner: string, amount = 1): Release {
    if (!this.hasShare(owner, amount) || !this.hasRoom(amount)) {
      this.#refused += 1;
      throw this.refusal(owner, amount);
    }
    this.#add(owner, amount);
    let held = amount;
    return (kept = 0) => {
      if (kept >= held) return;
      this.#add(owner, kept - held);
      held = kept;
    };
  }

  /** Returns true when the owner may hold `amount` more. */
  hasShare(owner: string, amount: number): boolean {
    return this.of(owner) + amount <= this.#options.perOwner;
  }

  /** Returns true when all owners may hold `amount` more. */
  hasRoom(amount: number): boolean {
    return this.#total + amount <= this.#options.total;
  }

  /** Returns the error that refuses `amount`: for the owner's share, else for the total. */
  refusal(owner: string, amount: number): SandhavenError {
    const { total, perOwner, what } = this.#options;
    const detail = this.hasShare(owner, amount)
      ? `${this.#total} ${what}, of ${total} for everybody.`
      : `${this.of(owner)} ${what} for you; your share is ${perOwner}.`;
    return new SandhavenError('resource_exhausted', detail, {
      hint: 'Wait for some of them to end, then try again.',
      retryable: true,
    });
  }

  /** Amount that one owner holds now. */
  of(owner: string): number {
    return this.#held.get(owner) ?? 0;
  }

  /** Amount that all owners hold now. */
  get total(): number {
    return this.#total;
  }

  /** Number of times that `take` has refused. */
  get refused(): number {
    return this.#refused;
  }

  #add(owner: string, amount: number): void {
    this.#total += amount;
    const held = this.of(owner) + amount;
    if (held > 0) this.#held.set(owner, held);
    else this.#held.delete(owner);
  }
}
