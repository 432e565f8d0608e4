/** Makes the shop's products. */
import { Binary, type Document, Double, type ObjectId } from 'bson';
import { idAt, money, Random } from './random.ts';
import { DAY_MS, period, type Shop, steadily, thereBy } from './shop.ts';
import { adjectives, type Category, categories, text } from './words.ts';

/** A product's data that other documents use. */
export interface Product {
  id: ObjectId;
  at: number;
  sku: string;
  name: string;
  category: Category;
  cents: number;
}

const FIRST_LAUNCH = Date.UTC(2021, 6, 1);
const warehouses = ['HAM', 'PDX', 'SIN', 'GRU', 'LOS'];

export function productAt(shop: Shop, place: number): Product {
  return begin(shop, place).product;
}

/** Picks a product sold by then; some sell far better than others. */
export function productSoldAt(shop: Shop, at: number, random: Random): Product {
  const sold = thereBy(at, FIRST_LAUNCH, shop.products);
  return productAt(shop, Math.floor(sold * random.lowFraction(2)));
}

export function productDocument(shop: Shop, place: number): Document {
  const { product, random } = begin(shop, place);
  const { id, at, sku, name, category, cents } = product;
  const attributes = Object.entries(category.attributes)
    .filter(() => random.chance(0.85))
    .map(([key, values]) => [key, random.pick(values)]);
  const reviews = Math.floor(400 * random.lowFraction(3));
  return {
    _id: id,
    sku,
    name,
    category: category.name,
    path: category.path,
    price: money(cents),
    cost: money(Math.round(cents * (0.35 + 0.3 * random.fraction()))),
    attributes: Object.fromEntries(attributes),
    stock: Object.fromEntries(
      warehouses.filter(() => random.chance(0.7)).map((name) => [name, random.integer(0, 400)]),
    ),
    // Null for a product without reviews.
    rating: reviews === 0 ? null : { average: new Double(random.integer(20, 50) / 10), count: reviews },
    description: text(random, random.integer(1, 4)),
    ...(random.chance(0.3) && { thumbnail: new Binary(random.bytes(48)) }),
    // Kilograms, except for suppliers that wrote "0.4 kg".
    ...(random.chance(0.8) && { weight: weightIn(random) }),
    created_at: new Date(at),
    updated_at: new Date(Math.min(at + random.integer(0, 500) * DAY_MS, period.to - 1)),
    ...(random.chance(0.06) && { discontinued: true }),
  };
}

/** Makes the same draws in the same order for every caller. */
function begin(shop: Shop, place: number): { product: Product; random: Random } {
  const random = new Random(shop.seed, 'products', place);
  const at = steadily(FIRST_LAUNCH, (place + random.fraction()) / shop.products);
  const category = random.pick(categories);
  const product = {
    id: idAt(shop.seed, 'products', place, at),
    at,
    sku: `${category.name.slice(0, 3).toUpperCase()}-${String(place + 1).padStart(5, '0')}`,
    name: `${random.pick(adjectives)} ${random.pick(category.things)}`,
    category,
    cents: Math.max(99, Math.round((category.price * (0.5 + 1.5 * random.fraction())) / 10) * 10 - 1),
  };
  return { product, random };
}

function weightIn(random: Random): number | string {
  const kilograms = random.integer(1, 90) / 10;
  return random.chance(0.1) ? `${kilograms} kg` : kilograms;
}
