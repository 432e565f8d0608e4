/** Integers with bounds. The description repeats bounds and default, since some model vendors drop the keywords. */
import { z } from 'zod';

interface Bounds {
  min: number;
  max: number;
}

/** Returns an optional parameter; `integerWithDefault` returns one with a default. */
export function optionalInteger(about: string, bounds: Bounds) {
  return integerWithin(bounds)
    .optional()
    .describe(`${about} (${range(bounds)}).`);
}

export function integerWithDefault(about: string, bounds: Bounds & { default: number }) {
  return integerWithin(bounds)
    .default(bounds.default)
    .describe(`${about} (${range(bounds)}, default ${bounds.default}).`);
}

function integerWithin({ min, max }: Bounds) {
  return z.int().min(min).max(max);
}

/** Smallest maximum that only keeps sums exact, and is not worth telling a model. */
export const BOUNDLESS = 1_000_000;

function range({ min, max }: Bounds): string {
  if (max >= BOUNDLESS) return `from ${min}`;
  return min < 0 ? `${min} to ${max}` : `${min}-${max}`;
}
