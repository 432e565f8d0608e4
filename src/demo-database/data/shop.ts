/**
 * The shop of the generated data: its size, with the seed that reproduces it, and the times of its events, over two years with
 * growth, seasons, weekends, sales and nights.
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

/** Shares of all documents; the rest are events. */
const share = { customers: 0.1, products: 0.02, orders: 0.48 } as const;

/** @param documents Number in all collections together. */
export function planShop(documents: number, seed = 1): Shop {
  const { min, max } = limits.documents.demo.documents;
  if (!Number.isInteger(documents) || documents < min || documents > max) {
    throw invalidArgument('documents', `documents is a whole number from ${min} to ${max}.`);
  }
  const customers = Math.round(documents * share.customers);
  const products = Math.round(documents * share.products);
  const orders = Math.round(documents * share.orders);
  return { seed, customers, products, orders, events: documents - customers - products - orders };
}

const HOUR_MS = DAY_MS / 24;
/** Sunday first. */
const byWeekday = [1.15, 1.05, 0.95, 0.9, 0.95, 1, 1.1];
/** UTC, so that the nights of some are the days of others. */
const byHour = [5, 4, 4, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11, 10, 10, 11, 12, 13, 14, 13, 11, 9, 7];
const byMonth = [0.85, 0.85, 0.9, 0.95, 1, 0.95, 0.95, 0.85, 0.95, 1, 1.35, 1.4];
/** Relative growth from beginning to end. */
const GROWTH = 0.8;
const SALE = 2.2;

/** Cumulative weight at the end of each hour. */
const untilHour = (() => {
  let sum = 0;
  const hours = (period.to - period.from) / HOUR_MS;
  return Float64Array.from({ length: hours }, (_, hour) => (sum += weightOf(period.from + hour * HOUR_MS)));
})();
const all = untilHour.at(-1) ?? 0;

/** Returns the moment by which this share of all events has happened: many in November, few at night. */
export function momentOf(share: number): number {
  const wanted = share * all;
  let [low, high] = [0, untilHour.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((untilHour[middle] ?? 0) > wanted) high = middle;
    else low = middle + 1;
  }
  const before = untilHour[low - 1] ?? 0;
  const within = (wanted - before) / ((untilHour[low] ?? 0) - before);
  return Math.floor(period.from + (low + Math.min(Math.max(within, 0), 0.999_999)) * HOUR_MS);
}

/** Returns the moment at which this share of a steadily growing set existed. */
export function steadily(since: number, share: number): number {
  return Math.floor(since + share * (period.to - since));
}

/** Returns the number of members that a steadily growing set had by then. */
export function thereBy(at: number, since: number, count: number): number {
  return Math.floor((count * (at - since)) / (period.to - since));
}

function weightOf(at: number): number {
  const date = new Date(at);
  const isSale = date.getUTCMonth() === 10 && date.getUTCDate() >= 24 && date.getUTCDate() <= 30;
  return (
    (1 + (GROWTH * (at - period.from)) / (period.to - period.from)) *
    (byMonth[date.getUTCMonth()] ?? 1) *
    (byWeekday[date.getUTCDay()] ?? 1) *
    (byHour[date.getUTCHours()] ?? 1) *
    (isSale ? SALE : 1)
  );
}
