/**
 * The shop of the generated data: its size, with the seed that reproduces it, and the times of its events, over two years with
 * growth and seasons.
 */
import { invalidArgument } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';

export interface Shop {
  seed: number;
  customers: number;
  products: number;
  orders: number;
  events: number;
}

export const DAY_MS = 24 * 60 * 60 * 1000;

/** The last moment is in 2026-06-30. */
export const period = { from: Date.UTC(2024, 6, 1), to: Date.UTC(2026, 6, 1) } as const;

/** @param documents Number in all collections together: a tenth customers, a fiftieth products, and more orders than events. */
export function planShop(documents: number, seed = 1): Shop {
  const { min, max } = limits.documents.demo.documents;
  if (!Number.isInteger(documents) || documents < min || documents > max) {
    throw invalidArgument('documents', `documents is a whole number from ${min} to ${max}.`);
  }
  const part = (share: number) => Math.round(documents * share);
  const [customers, products, orders] = [part(0.1), part(0.02), part(0.48)];
  return { seed, customers, products, orders, events: documents - customers - products - orders };
}

/** Sales from July to June. */
const byMonth = [0.85, 0.85, 0.9, 0.95, 1.9, 1.7, 0.8, 0.75, 0.9, 0.95, 1, 0.95];
const months = Array.from({ length: 24 }, (_, month) => ({
  begins: Date.UTC(2024, 6 + month, 1),
  ends: Date.UTC(2024, 7 + month, 1),
  /** It grows by the half in a year. */
  weight: (byMonth[month % 12] ?? 1) * (1 + month / 24),
}));
const all = months.reduce((sum, { weight }) => sum + weight, 0);

/** Returns the moment by which this share of all events has happened: many of them in November. */
export function momentOf(share: number): number {
  let left = share * all;
  for (const { begins, ends, weight } of months) {
    if (left < weight) return Math.min(Math.floor(begins + (left / weight) * (ends - begins)), ends - 1);
    left -= weight;
  }
  return period.to - 1;
}
