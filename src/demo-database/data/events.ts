/** Makes the events on the shop's pages and behind them. */
import type { Document, ObjectId } from 'bson';
import { customerBy } from './customers.ts';
import { orderAt } from './orders.ts';
import { productSoldAt } from './products.ts';
import { idAt, Random, trace, uuid, type Weighted } from './random.ts';
import { momentOf, type Shop } from './shop.ts';
import { queries, text } from './words.ts';

type Kind = 'page_view' | 'search' | 'cart' | 'order_placed' | 'review' | 'error';

interface Happened {
  shop: Shop;
  random: Random;
  at: number;
  /** Number of orders placed by then. */
  ordersBefore: number;
}

const kinds: Weighted<Kind> = [
  ['page_view', 52],
  ['search', 16],
  ['cart', 15],
  ['order_placed', 10],
  ['review', 4],
  ['error', 3],
];
const systems: Weighted<readonly [kind: string, os: string]> = [
  [['phone', 'Android'], 40],
  [['phone', 'iOS'], 25],
  [['desktop', 'Windows'], 22],
  [['desktop', 'macOS'], 9],
  [['tablet', 'iPadOS'], 4],
];

const detailsOf: Record<Kind, (happened: Happened) => Document> = {
  page_view: ({ shop, random, at }) => {
    const { id, sku } = productSoldAt(shop, at, random);
    return { page: `/p/${sku.toLowerCase()}`, product_id: id, ...(random.chance(0.3) && { referrer: null }) };
  },
  search: ({ random }) => ({ query: random.pick(queries), results: Math.floor(90 * random.lowFraction(2)) }),
  // Quantity of each product: the keys are products.
  cart: ({ shop, random, at }) => {
    const products = Array.from({ length: random.integer(1, 4) }, () => productSoldAt(shop, at, random));
    return { cart: Object.fromEntries(products.map(({ id }) => [id.toHexString(), random.integer(1, 5)])) };
  },
  order_placed: ({ shop, ordersBefore }) => {
    const { id } = orderAt(shop, Math.max(0, ordersBefore - 1));
    return { order_id: id };
  },
  review: ({ shop, random, at }) => ({
    product_id: productSoldAt(shop, at, random).id,
    // A number from the app, text from the old form.
    stars: random.chance(0.85) ? random.integer(1, 5) : String(random.integer(1, 5)),
    text: text(random, random.chance(0.1) ? random.integer(20, 60) : random.integer(1, 4)),
  }),
  error: ({ random }) => ({
    level: random.pick(['warning', 'error']),
    message: random.pick([
      'Timeout after 3000 ms',
      'Cannot read "price"',
      'HTTP 502 from payments\n  at pay:41',
    ]),
    ...(random.chance(0.3) && { code: random.chance(0.5) ? 502 : 'ETIMEDOUT' }),
  }),
};

export function eventDocument(shop: Shop, place: number): Document {
  const random = new Random(shop.seed, 'events', place);
  const share = (place + random.fraction()) / shop.events;
  const at = momentOf(share);
  const kind = random.pickWeighted(kinds);
  const happened = { shop, random, at, ordersBefore: Math.floor(share * shop.orders) };
  const [device, os] = random.pickWeighted(systems);
  return {
    _id: idAt(shop.seed, 'events', place, at),
    at: new Date(at),
    type: kind,
    ...customerOf(kind, happened),
    session: uuid(random),
    trace: trace(random),
    device: {
      kind: device,
      os,
      ...(device !== 'desktop' && { app: `${random.integer(3, 5)}.${random.integer(0, 12)}` }),
    },
    // Whole milliseconds, except for browsers with finer clocks.
    duration_ms: random.chance(0.8) ? random.integer(4, 900) : Math.round(random.fraction() * 9e5) / 1e3,
    ...detailsOf[kind](happened),
  };
}

/** Returns the buyer for an order; otherwise null for logged-out customers, and nothing for strangers. */
function customerOf(
  kind: Kind,
  { shop, random, at, ordersBefore }: Happened,
): { customer_id?: ObjectId | null } {
  if (kind === 'order_placed')
    return { customer_id: orderAt(shop, Math.max(0, ordersBefore - 1)).customer.id };
  if (random.chance(0.2)) return {};
  return { customer_id: random.chance(0.1) ? null : customerBy(shop, at, random).id };
}
