/** An order of a shop as real ones look: 60 fields, nested, some of them often missing, some of several types. */
import { createHash } from 'node:crypto';
import { Decimal128, Double, Int32, Long, ObjectId } from '../../../src/documentdb/bson/library.ts';

export function shopOrder(i: number): object {
  const pick = <T>(values: readonly T[], salt: string): T => values[number(i, salt) % values.length] as T;
  const created = new Date(Date.UTC(2024, 0, 1) + number(i, 'created') * 7_777);
  const later = (salt: string) => new Date(created.getTime() + (number(i, salt) % 1_000_000) * 1000);
  return {
    _id: id(i, 'order'),
    number: `ORD-2024-${String(i).padStart(6, '0')}`,
    status: pick(['pending', 'paid', 'packed', 'shipped', 'delivered', 'cancelled'], 'status'),
    currency: pick(['EUR', 'USD', 'GBP', 'CHF'], 'currency'),
    created_at: created,
    updated_at: later('updated'),
    ...(i % 3 === 0 ? { shipped_at: later('shipped') } : {}),
    ...(i % 9 === 0
      ? { cancelled_at: later('cancelled'), cancel_reason: pick(['customer', 'stock', 'fraud'], 'r') }
      : {}),
    expires_at: i % 2 ? later('expires') : null,
    customer: {
      id: id(i % 300, 'customer'),
      email: `${hash(i, 'mail').slice(0, 8)}@example.org`,
      name: { first: name(i, 'first'), last: name(i, 'last') },
      segment: pick(['consumer', 'business', 'reseller'], 'segment'),
      since: new Date(Date.UTC(2015 + (i % 9), i % 12, 1)),
      orders_count: new Int32(number(i, 'orders') % 140),
      vip: i % 12 === 0,
    },
    shipping: {
      address: address(i, 's'),
      carrier: pick(['DHL', 'UPS', 'DPD', 'GLS', 'Hermes'], 'carrier'),
      tracking_number: hash(i, 'tracking').slice(0, 14).toUpperCase(),
      weight_grams: new Int32(200 + (number(i, 'weight') % 20_000)),
      cost: new Double((number(i, 'cost') % 3000) / 100),
    },
    billing: {
      address: address(i, 'b'),
      vat_id: i % 4 ? null : `DE${number(i, 'vat')}`,
    },
    items: Array.from({ length: 1 + (i % 4) }, (_, k) => ({
      product_id: id(number(i, `p${k}`) % 900, 'product'),
      sku: `SKU-${number(i, `p${k}`) % 900}`,
      title: `${name(i, `t${k}`)} ${name(k, 'kind')}`,
      quantity: new Int32(1 + (number(i, `q${k}`) % 9)),
      price: Decimal128.fromString(((number(i, `price${k}`) % 100_000) / 100).toFixed(2)),
      discounts: i % 5 ? [] : [new Double(0.05), new Double(0.1)],
    })),
    payment: {
      method: pick(['card', 'paypal', 'invoice', 'prepaid'], 'method'),
      provider: pick(['stripe', 'adyen'], 'provider'),
      reference: hash(i, 'payment').slice(0, 20),
      captured: i % 7 !== 0,
      fee: new Double((number(i, 'fee') % 500) / 100),
    },
    totals: {
      net: new Double((number(i, 'net') % 100_000) / 100),
      tax: new Double((number(i, 'tax') % 10_000) / 100),
      gross: i % 20 ? new Double((number(i, 'gross') % 110_000) / 100) : new Int32(number(i, 'gross') % 1000),
    },
    tags: pick([[], ['gift'], ['gift', 'express'], ['b2b']], 'tags'),
    external_ref: Long.fromString(`90071992547${String(40_993 + i)}`),
    views_by_day: { [`2024-01-${String(10 + (i % 20))}`]: new Int32(i % 50) },
    note: `${name(i, 'n1')} ${name(i, 'n2')}, ${name(i, 'n3')} ${name(i, 'n4')}`,
    schema_version: new Int32(3),
  };
}

function address(i: number, salt: string): object {
  const cities = ['Berlin', 'Hamburg', 'München', 'Köln', 'Wien', 'Zürich', 'Paris', 'Lyon'];
  return {
    street: `${name(i, `${salt}street`)} ${number(i, salt) % 200}`,
    city: cities[number(i, `${salt}city`) % cities.length],
    zip: String(10_000 + (number(i, `${salt}zip`) % 80_000)),
    country: ['DE', 'AT', 'CH', 'FR'][number(i, `${salt}country`) % 4],
  };
}

function id(i: number, salt: string) {
  return new ObjectId(hash(i, salt).slice(0, 24));
}

function name(i: number, salt: string): string {
  const text = hash(i, salt).replace(/\d/g, '');
  return text.charAt(0).toUpperCase() + text.slice(1, 7);
}

function number(i: number, salt: string): number {
  return Number.parseInt(hash(i, salt).slice(0, 7), 16);
}

function hash(i: number, salt: string): string {
  return createHash('sha256').update(`${salt}:${i}`).digest('hex');
}
