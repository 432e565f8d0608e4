/** Plans the size of the shop, with the seed that reproduces it. */
import { invalidArgument } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';

export interface Shop {
  seed: number;
  customers: number;
  products: number;
  orders: number;
  events: number;
}

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
