/** Makes the orders: the sum of an order's items is its total, to the cent. */
import type { Document, ObjectId } from 'bson';
import { addressOf, buyerAt, type Customer } from './customers.ts';
import { productSoldAt } from './products.ts';
import { dayText, idAt, money, Random, type Weighted } from './random.ts';
import { DAY_MS, momentOf, period, type Shop } from './shop.ts';
import { tags, text } from './words.ts';

/** An order's data that other documents use. */
export interface Order {
  id: ObjectId;
  at: number;
  customer: Customer;
}

interface Item {
  cents: number;
  document: Document;
}

const HOUR_MS = DAY_MS / 24;
/** Earlier carriers sent some dates as text. */
const OLD_CARRIERS_UNTIL = Date.UTC(2025, 6, 1);

/** Statuses of orders that are at most so many days old. */
const statuses: readonly [days: number, statuses: Weighted<string>][] = [
  [
    2,
    [
      ['pending', 30],
      ['paid', 65],
      ['cancelled', 5],
    ],
  ],
  [
    12,
    [
      ['paid', 10],
      ['shipped', 55],
      ['delivered', 30],
      ['cancelled', 5],
    ],
  ],
  [
    Number.POSITIVE_INFINITY,
    [
      ['delivered', 88],
      ['cancelled', 5],
      ['returned', 7],
    ],
  ],
];
const counts: Weighted<number> = [
  [1, 66],
  [2, 21],
  [3, 8],
  [4, 3],
  [6, 1.5],
  [12, 0.5],
];
const channels: Weighted<string> = [
  ['web', 55],
  ['app', 36],
  ['phone', 4],
  ['partner', 5],
];
const methods: Weighted<string> = [
  ['card', 55],
  ['paypal', 25],
  ['invoice', 15],
  ['voucher', 5],
];

export function orderAt(shop: Shop, place: number): Order {
  return begin(shop, place).order;
}

export function orderDocument(shop: Shop, place: number): Document {
  const { order, random } = begin(shop, place);
  const { id, at, customer } = order;
  const items = Array.from({ length: random.pickWeighted(counts) }, () => itemAt(shop, at, random));
  const status = statusAt(at, random);
  return {
    _id: id,
    number: `SO-${new Date(at).getUTCFullYear()}-${String(place + 1).padStart(7, '0')}`,
    customer_id: customer.id,
    region: customer.region.name,
    status,
    channel: random.pickWeighted(channels),
    created_at: new Date(at),
    items: items.map(({ document }) => document),
    total: money(items.reduce((sum, { cents }) => sum + cents, 0)),
    currency: 'EUR',
    payment: paymentOf(random),
    shipping: shippingOf(order, status, random),
    // Null for a coupon that was tried and rejected.
    ...(random.chance(0.25) && { coupon: random.chance(0.2) ? null : `SAND${random.integer(5, 30)}` }),
    ...(random.chance(0.2) && { tags: tags.filter(() => random.chance(0.25)) }),
    ...(random.chance(0.05) && { gift: { wrapped: random.chance(0.7), message: text(random, 1) } }),
    ...(random.chance(0.02) && { comment: text(random, random.integer(1, 20)) }),
  };
}

/** Makes the same draws in the same order for every caller. */
function begin(shop: Shop, place: number): { order: Order; random: Random } {
  const random = new Random(shop.seed, 'orders', place);
  const at = momentOf((place + random.fraction()) / shop.orders);
  const customer = buyerAt(shop, at, random);
  return { order: { id: idAt(shop.seed, 'orders', place, at), at, customer }, random };
}

function itemAt(shop: Shop, at: number, random: Random): Item {
  const { id, sku, name, cents: price } = productSoldAt(shop, at, random);
  const quantity = random.chance(0.75) ? 1 : random.integer(2, 5);
  const discount = random.chance(0.12) ? random.pick([5, 10, 12.5, 25]) : 0;
  const cents = Math.round((price * quantity * (100 - discount)) / 100);
  const document = {
    product_id: id,
    sku,
    name,
    quantity,
    unit_price: money(price),
    ...(discount > 0 && { discount_percent: discount }),
    total: money(cents),
  };
  return { cents, document };
}

function statusAt(at: number, random: Random): string {
  const days = (period.to - at) / DAY_MS;
  const [, found] = statuses.find(([most]) => days <= most) ?? [];
  return random.pickWeighted(found ?? []);
}

function paymentOf(random: Random): Document {
  const method = random.pickWeighted(methods);
  return {
    method,
    ...(method === 'card' && {
      card: {
        brand: random.pick(['visa', 'mastercard', 'amex']),
        last4: String(random.integer(1_000, 9_999)),
      },
    }),
    // Some banks number payments, others name them.
    reference: random.chance(0.15)
      ? random.integer(100_000_000, 2_000_000_000)
      : `P${random.integer(100_000_000, 2_000_000_000)}`,
  };
}

function shippingOf({ at, customer }: Order, status: string, random: Random): Document {
  const shippedAt = at + random.integer(6, 96) * HOUR_MS;
  const deliveredAt = shippedAt + random.integer(20, 150) * HOUR_MS;
  const isShipped = ['shipped', 'delivered', 'returned'].includes(status) && shippedAt < period.to;
  const isDelivered = isShipped && status !== 'shipped' && deliveredAt < period.to;
  const isText = at < OLD_CARRIERS_UNTIL && random.chance(0.06);
  return {
    address: addressOf(customer),
    cost: money(random.pick([0, 490, 490, 990, 1_900])),
    ...(isShipped && {
      carrier: random.pick(customer.region.carriers),
      ...(random.chance(0.6) && { tracking: String(random.integer(10_000_000, 4_000_000_000)) }),
      shipped_at: new Date(shippedAt),
    }),
    ...(isDelivered && { delivered_at: isText ? dayText(deliveredAt) : new Date(deliveredAt) }),
  };
}
