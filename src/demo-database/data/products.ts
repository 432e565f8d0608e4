/** Makes the shop's products. Their ids and prices are known without the rest. */
import { Binary, type Document, Double, type ObjectId } from 'bson';
import { idAt, money, Random } from './random.ts';
import { DAY_MS, period, type Shop } from './shop.ts';
import { adjectives, categories, text } from './words.ts';

const FIRST_LAUNCH = Date.UTC(2021, 6, 1);
const warehouses = ['HAM', 'PDX', 'SIN', 'GRU', 'LOS'];

/** Picks a product sold by then; some sell far better than others. */
export function productSoldAt({ products }: Shop, at: number, random: Random): number {
  const sold = Math.floor((products * (at - FIRST_LAUNCH)) / (period.to - FIRST_LAUNCH));
  return Math.floor(sold * random.lowFraction());
}

export function productId(shop: Shop, place: number): ObjectId {
  return idAt(shop.seed, 'products', place, launchOf(shop, place));
}

/** In cents. */
export function priceOf({ seed }: Shop, place: number): number {
  return 190 + 10 * Math.floor(1_500 * new Random(seed, 'prices', place).lowFraction());
}

export function productDocument(shop: Shop, place: number): Document {
  const random = new Random(shop.seed, 'products', place);
  const [at, cents] = [launchOf(shop, place), priceOf(shop, place)];
  const { path, things, attributes } = random.pick(categories);
  const category = path.at(-1) ?? '';
  const known = Object.entries(attributes).filter(() => random.chance(0.85));
  const stocked = warehouses.filter(() => random.chance(0.7));
  const reviews = Math.floor(400 * random.lowFraction()) - 10;
  const kilograms = random.integer(1, 90) / 10;
  return {
    _id: productId(shop, place),
    sku: `${category.slice(0, 3).toUpperCase()}-${String(place + 1).padStart(5, '0')}`,
    name: `${random.pick(adjectives)} ${random.pick(things)}`,
    category,
    path,
    price: money(cents),
    cost: money(Math.round(cents * (0.35 + 0.3 * random.fraction()))),
    attributes: Object.fromEntries(known.map(([key, values]) => [key, random.pick<unknown>(values)])),
    stock: Object.fromEntries(stocked.map((name) => [name, random.integer(0, 400)])),
    // Null for a product without reviews.
    rating: reviews <= 0 ? null : { average: new Double(random.integer(20, 50) / 10), count: reviews },
    description: text(random, random.integer(1, 4)),
    ...(random.chance(0.3) && { thumbnail: new Binary(random.bytes(48)) }),
    // Kilograms, except for suppliers that wrote "0.4 kg".
    ...(random.chance(0.8) && { weight: random.chance(0.1) ? `${kilograms} kg` : kilograms }),
    created_at: new Date(at),
    updated_at: new Date(Math.min(at + random.integer(0, 500) * DAY_MS, period.to - 1)),
    ...(random.chance(0.06) && { discontinued: true }),
  };
}

/** One after the other, at even distances. */
function launchOf({ products }: Shop, place: number): number {
  return Math.floor(FIRST_LAUNCH + ((place + 0.5) / products) * (period.to - FIRST_LAUNCH));
}
