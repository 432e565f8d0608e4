/**
 * What one process of the service waits for: answers of the store, of the engine, of agents. Each waits here until the
 * simulation delivers it, in any order. A killed process gets no answer any more, so none of its code runs again.
 */
import type { Dice } from './dice.ts';

interface Effect {
  label: string;
  deliver(): void;
  fail: ((error: Error) => void) | null;
}

/** Error of a point that fails; null: it succeeds. */
export type Strike = (label: string) => Error | null;

export class Effects {
  readonly #waiting: Effect[] = [];
  #killed = false;

  /** Resolves when the simulation delivers it; rejects where it lets the point fail. */
  point(label: string): Promise<void> {
    return new Promise((deliver, fail) => this.#add({ label, deliver, fail }));
  }

  /** Like `point`, for what cannot fail any more. */
  answer(label: string): Promise<void> {
    return new Promise((deliver) => this.#add({ label, deliver, fail: null }));
  }

  get size(): number {
    return this.#waiting.length;
  }

  labels(): string[] {
    return this.#waiting.map(({ label }) => label);
  }

  /** Delivers one of them. @returns Its label, with the error when it failed. */
  deliverOne(dice: Dice, strike: Strike): string {
    const at = dice.below(this.#waiting.length);
    const effect = this.#waiting[at];
    const last = this.#waiting.pop();
    if (!effect || !last) throw new Error('nothing waits');
    if (effect !== last) this.#waiting[at] = last;
    const error = effect.fail ? strike(effect.label) : null;
    if (error) effect.fail?.(error);
    else effect.deliver();
    return error ? `${effect.label}: ${error.message}` : effect.label;
  }

  kill(): void {
    this.#killed = true;
    this.#waiting.length = 0;
  }

  #add(effect: Effect): void {
    if (!this.#killed) this.#waiting.push(effect);
  }
}
