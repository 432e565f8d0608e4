/**
 * A bound that all owners share, of which each may hold a part: one owner who takes all that he can get leaves
 * the rest to the others. Counts only; where waiting makes sense, a `FairQueue` stands before it.
 */
import { SandhavenError } from '../model/errors.ts';

export interface SharesOptions {
  /** Held by all owners together. */
  total: number;
  /** Held by one owner. */
  perOwner: number;
  /** Continues "512 …": `requests are already in progress`. */
  what: string;
}

export class Shares {
  readonly #options: SharesOptions;
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor(options: SharesOptions) {
    this.#options = options;
  }

  /**
   * Takes `amount`, at least 1, for an owner. Fails with `resource_exhausted` when the owner's share or the whole
   * would be passed; nothing is taken then.
   * @returns Gives it back; further calls of it do nothing.
   */
  take(owner: string, amount = 1): () => void {
    if (!this.hasShare(owner, amount) || !this.hasRoom(amount)) throw this.refusal(owner, amount);
    this.#add(owner, amount);
    let taken = true;
    return () => {
      if (taken) this.#add(owner, -amount);
      taken = false;
    };
  }

  /** Whether the owner may hold so much more. */
  hasShare(owner: string, amount: number): boolean {
    return this.of(owner) + amount <= this.#options.perOwner;
  }

  /** Whether all may hold so much more. */
  hasRoom(amount: number): boolean {
    return this.#total + amount <= this.#options.total;
  }

  /** Says what is in the way of `amount`: the owner's share, else the whole. */
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

  /** Held by one owner now. */
  of(owner: string): number {
    return this.#held.get(owner) ?? 0;
  }

  /** Held by all now. */
  get total(): number {
    return this.#total;
  }

  #add(owner: string, amount: number): void {
    this.#total += amount;
    const held = this.of(owner) + amount;
    if (held > 0) this.#held.set(owner, held);
    else this.#held.delete(owner);
  }
}
