/** Numbers that a seed repeats. */

/** From 0 to below 1. */
export type Random = () => number;

/** mulberry32 */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function bytesFrom(random: Random, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at++) bytes[at] = 1 + Math.floor(random() * 255);
  return bytes;
}

export function oneOf<T>(random: Random, values: readonly [T, ...T[]]): T {
  return values[Math.floor(random() * values.length)] ?? values[0];
}

/** An integer from `min` to below `max`. */
export function between(random: Random, min: number, max: number): number {
  return min + Math.floor(random() * (max - min));
}

/** SEED of the environment, or another one each time. Tests print it. */
export function givenSeed(): number {
  return Number(process.env['SEED'] ?? Date.now() % 1_000_000);
}
