/** Whole numbers with bounds. The description repeats bounds and default, since some model vendors drop the keywords. */
import { z } from 'zod';

interface Bounds {
  min: number;
  max: number;
}

/** Required when the caller does not add `.optional()` or `.default()`: use the two below. */
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

/** From here on a maximum only keeps sums exact, and is none to tell a model of. */
export const BOUNDLESS = 1_000_000;

function range({ min, max }: Bounds): string {
  if (max >= BOUNDLESS) return `from ${min}`;
  return min < 0 ? `${min} to ${max}` : `${min}-${max}`;
}
