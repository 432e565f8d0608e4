/** Makes the orders: the sum of an order's items is its total, to the cent. */
import type { Document } from 'bson';
import { addressOf, customerBy, customerId, regionOf } from './customers.ts';
import { priceOf, productDocument, productSoldAt } from './products.ts';
import { dayText, idAt, money, Random } from './random.ts';
import { DAY_MS, momentOf, period, type Shop } from './shop.ts';
import { carriers, tags, text } from './words.ts';

const HOUR_MS = DAY_MS / 24;
/** Earlier carriers sent some dates as text. */
const OLD_CARRIERS_UNTIL = Date.UTC(2025, 6, 1);

export function orderDocument(shop: Shop, place: number): Document {
  const random = new Random(shop.seed, 'orders', place);
  const at = momentOf((place + random.fraction()) / shop.orders);
  const customer = customerBy(shop, at, random);
  const items = Array.from({ length: random.pick([1, 1, 1, 1, 1, 1, 2, 2, 3, 5]) }, () =>
    itemAt(shop, at, random),
  );
  return {
    _id: idAt(shop.seed, 'orders', place, at),
    number: `SO-${new Date(at).getUTCFullYear()}-${String(place + 1).padStart(7, '0')}`,
    customer_id: customerId(shop, customer),
    region: regionOf(shop, customer).name,
    channel: random.pick(['web', 'web', 'app', 'phone']),
    created_at: new Date(at),
    items: items.map(({ document }) => document),
    total: money(items.reduce((sum, { cents }) => sum + cents, 0)),
    currency: 'EUR',
    payment: paymentOf(random),
    ...deliveryOf(shop, customer, at, random),
    // Null for a coupon that was tried and rejected.
    ...(random.chance(0.25) && { coupon: random.chance(0.2) ? null : `SAND${random.integer(5, 30)}` }),
    ...(random.chance(0.2) && { tags: tags.filter(() => random.chance(0.25)) }),
    ...(random.chance(0.05) && { gift: { wrapped: random.chance(0.7), message: text(random, 1) } }),
    ...(random.chance(0.02) && { comment: text(random, random.integer(1, 20)) }),
  };
}

function itemAt(shop: Shop, at: number, random: Random): { cents: number; document: Document } {
  const product = productSoldAt(shop, at, random);
  const { _id, sku, name, price } = productDocument(shop, product);
  const quantity = random.chance(0.75) ? 1 : random.integer(2, 5);
  const discount = random.chance(0.12) ? random.pick([5, 10, 12.5, 25]) : 0;
  const cents = Math.round((priceOf(shop, product) * quantity * (100 - discount)) / 100);
  const reduced = discount > 0 && { discount_percent: discount };
  const document = {
    product_id: _id,
    sku,
    name,
    quantity,
    unit_price: price,
    ...reduced,
    total: money(cents),
  };
  return { cents, document };
}

function paymentOf(random: Random): Document {
  const number = random.integer(100_000_000, 2_000_000_000);
  const card = { brand: random.pick(['visa', 'amex']), last4: String(random.integer(1_000, 9_999)) };
  return {
    ...(random.chance(0.55) ? { method: 'card', card } : { method: random.pick(['paypal', 'invoice']) }),
    // Some banks number payments, others name them.
    reference: random.chance(0.15) ? number : `P${number}`,
  };
}

/** A few orders are cancelled or come back; the newest are on their way. */
function deliveryOf(shop: Shop, customer: number, at: number, random: Random): Document {
  const shippedAt = at + random.integer(6, 96) * HOUR_MS;
  const deliveredAt = shippedAt + random.integer(20, 150) * HOUR_MS;
  const isText = at < OLD_CARRIERS_UNTIL && random.chance(0.06);
  const tracking = random.chance(0.6) && { tracking: String(random.integer(10_000_000, 4_000_000_000)) };
  const { location: _, ...address } = addressOf(shop, customer);
  const shipping = { address, cost: money(random.pick([0, 490, 990])) };
  if (random.chance(0.05)) return { status: 'cancelled', shipping };
  if (shippedAt >= period.to) return { status: 'paid', shipping };
  const carrier = random.pick(carriers);
  const shipped = { ...shipping, carrier, ...tracking, shipped_at: new Date(shippedAt) };
  if (deliveredAt >= period.to) return { status: 'shipped', shipping: shipped };
  const delivered_at = isText ? dayText(deliveredAt) : new Date(deliveredAt);
  return { status: random.chance(0.07) ? 'returned' : 'delivered', shipping: { ...shipped, delivered_at } };
}
