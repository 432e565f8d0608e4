/** Makes the events on the shop's pages and behind them. */
import type { Document, ObjectId } from 'bson';
import { customerBy, customerId } from './customers.ts';
import { orderDocument } from './orders.ts';
import { productId, productSoldAt } from './products.ts';
import { idAt, Random, trace, uuid, type Weighted } from './random.ts';
import { momentOf, type Shop } from './shop.ts';
import { queries, text } from './words.ts';

const types: Weighted<string> = [
  ['page_view', 52],
  ['search', 16],
  ['cart', 15],
  ['order_placed', 10],
  ['review', 4],
  ['error', 3],
];

export function eventDocument(shop: Shop, place: number): Document {
  const random = new Random(shop.seed, 'events', place);
  const share = (place + random.fraction()) / shop.events;
  const at = momentOf(share);
  const type = random.pickWeighted(types);
  const product = () => productId(shop, productSoldAt(shop, at, random));
  return {
    _id: idAt(shop.seed, 'events', place, at),
    at: new Date(at),
    type,
    session: uuid(random),
    trace: trace(random),
    device: { kind: random.pick(['phone', 'desktop']), ...(random.chance(0.6) && { app: '4.12' }) },
    // Whole milliseconds, except for browsers with finer clocks.
    duration_ms: random.chance(0.8) ? random.integer(4, 900) : Math.round(random.fraction() * 9e5) / 1e3,
    ...(type === 'order_placed' ? orderBefore(shop, share) : visitor(shop, at, random)),
    ...detailsOf(type, random, product),
  };
}

/** Null for customers who are logged out, and nothing for strangers. */
function visitor(shop: Shop, at: number, random: Random): Document {
  if (random.chance(0.2)) return {};
  return { customer_id: random.chance(0.1) ? null : customerId(shop, customerBy(shop, at, random)) };
}

function orderBefore(shop: Shop, share: number): Document {
  const { _id, customer_id } = orderDocument(shop, Math.max(0, Math.floor(share * shop.orders) - 1));
  return { customer_id, order_id: _id };
}

function detailsOf(type: string, random: Random, product: () => ObjectId): Document {
  const stars = random.integer(1, 5);
  switch (type) {
    case 'page_view':
      return { product_id: product(), ...(random.chance(0.3) && { referrer: null }) };
    case 'search':
      return { query: random.pick(queries), results: random.integer(0, 90) };
    case 'cart':
      // Quantity of each product: the keys are products.
      return { cart: { [product().toHexString()]: 1, [product().toHexString()]: random.integer(1, 5) } };
    case 'review':
      return {
        product_id: product(),
        // A number from the app, text from the old form.
        stars: random.chance(0.85) ? stars : String(stars),
        text: text(random, random.chance(0.1) ? random.integer(20, 60) : random.integer(1, 4)),
      };
    case 'error':
      return { level: 'warning', message: 'HTTP 502\n  at pay:41', code: random.pick([502, 'ETIMEDOUT']) };
    default:
      return {};
  }
}
