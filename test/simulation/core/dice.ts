/** Numbers that a seed repeats, and the same for what the code under test draws itself. */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { type Random, randomFrom } from '../../support/random.ts';

export class Dice {
  readonly #random: Random;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
  }

  /** An integer from 0 to below `n`. */
  below(n: number): number {
    return Math.floor(this.#random() * n);
  }

  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  oneOf<T>(values: readonly T[]): T {
    const value = values[this.below(values.length)];
    if (value === undefined) throw new Error('nothing to choose from');
    return value;
  }

  /** Chooses a key by its weight. */
  weighted<K extends string>(weights: Record<K, number>): K {
    const entries = Object.entries(weights) as [K, number][];
    let left = this.#random() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      left -= weight;
      if (left < 0) return key;
    }
    throw new Error('no weight is positive');
  }
}

/** Draws ids and names from the dice, until the returned function is called. */
export function drawFrom(dice: Dice): () => void {
  const real = crypto.randomInt;
  const drawn = (min: number, max?: number) =>
    max === undefined ? dice.below(min) : min + dice.below(max - min);
  crypto.randomInt = drawn as typeof crypto.randomInt;
  syncBuiltinESMExports();
  return () => {
    crypto.randomInt = real;
    syncBuiltinESMExports();
  };
}
