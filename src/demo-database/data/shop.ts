/** How large the shop is, and what makes it the same one each time. */
import { invalidArgument } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';

export interface Shop {
  seed: number;
  customers: number;
  products: number;
  orders: number;
  events: number;
}

/** Of all documents; what is left are events. */
const share = { customers: 0.1, products: 0.02, orders: 0.48 } as const;

/** @param documents In all. */
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
