/** Makes the shop's customers. */
import type { Document, ObjectId } from 'bson';
import { productSoldAt } from './products.ts';
import { dayText, idAt, Random, type Weighted } from './random.ts';
import { MOST_BOUGHT, type Place, postalCode, type Region, regions } from './regions.ts';
import { DAY_MS, period, type Shop, steadily, thereBy } from './shop.ts';
import { streets, tags, text } from './words.ts';

/** A customer's data that other documents use. */
export interface Customer {
  id: ObjectId;
  /** Time of joining. */
  at: number;
  region: Region;
  place: Place;
  name: { first: string; last: string };
  street: string;
  postalCode: string | number;
}

const FIRST_CUSTOMER = Date.UTC(2022, 6, 1);
/** Earlier records keep some dates as text, and codes as numbers. */
const OLD_SYSTEM_UNTIL = Date.UTC(2024, 0, 1);
/** Most redraws of a buyer's region. */
const TRIES = 16;

const tiers: Weighted<string> = [
  ['bronze', 70],
  ['silver', 22],
  ['gold', 8],
];

export function customerAt(shop: Shop, place: number): Customer {
  return begin(shop, place).customer;
}

/** Picks a customer who had joined by then, of a region that buys much in that month. */
export function buyerAt(shop: Shop, at: number, random: Random): Customer {
  const month = new Date(at).getUTCMonth();
  for (let tries = 1; ; tries++) {
    const customer = customerBy(shop, at, random);
    if (tries === TRIES || random.chance((customer.region.byMonth[month] ?? 1) / MOST_BOUGHT))
      return customer;
  }
}

/** Picks a customer who had joined by then; older ones come more often. */
export function customerBy(shop: Shop, at: number, random: Random): Customer {
  const joined = thereBy(at, FIRST_CUSTOMER, shop.customers);
  return customerAt(shop, Math.floor(joined * random.lowFraction(2)));
}

export function addressOf({ street, postalCode, place }: Customer): Document {
  return { street, city: place.city, postal_code: postalCode, country: place.country };
}

export function customerDocument(shop: Shop, place: number): Document {
  const { customer, random } = begin(shop, place);
  const { id, at, region, name } = customer;
  const isOld = at < OLD_SYSTEM_UNTIL;
  return {
    _id: id,
    email: `${lettersOf(name.first)}.${lettersOf(name.last)}.${place}@example.${random.pick(['com', 'org', 'net'])}`,
    name,
    region: region.name,
    address: { ...addressOf(customer), location: locationOf(customer.place, random) },
    // Null means "will not say", a missing one was never asked.
    ...(random.chance(0.6) && { phone: random.chance(0.1) ? null : phone(random) }),
    ...(random.chance(0.35) && { birth_date: new Date(Date.UTC(1945, 0, random.integer(1, 22_000))) }),
    tier: random.pickWeighted(tiers),
    loyalty: { points: Math.floor(12_000 * random.lowFraction(4)), since: new Date(at + DAY_MS) },
    // A number in the old system, text in the new one.
    ...(isOld && { legacy_id: random.chance(0.8) ? random.integer(1_000, 99_999) : `C-${place}` }),
    joined_at: isOld && random.chance(0.1) ? dayText(at) : new Date(at),
    marketing: { email: random.chance(0.4), ...(random.chance(0.3) && { sms: random.chance(0.5) }) },
    tags: tags.filter(() => random.chance(0.15)),
    ...(random.chance(0.5) && { favourites: favourites(shop, random) }),
    ...(random.chance(0.04) && { notes: text(random, random.integer(1, 30)) }),
  };
}

/** Makes the same draws in the same order for every caller. */
function begin(shop: Shop, place: number): { customer: Customer; random: Random } {
  const random = new Random(shop.seed, 'customers', place);
  const at = steadily(FIRST_CUSTOMER, (place + random.fraction()) / shop.customers);
  const region = random.pickWeighted(regions);
  const where = random.pick(region.places);
  const code = postalCode(random, where.country);
  const customer = {
    id: idAt(shop.seed, 'customers', place, at),
    at,
    region,
    place: where,
    name: { first: random.pick(region.first), last: random.pick(region.last) },
    street: `${random.pick(streets)} ${random.integer(1, 180)}`,
    postalCode: at < OLD_SYSTEM_UNTIL && /^[1-9]\d+$/.test(code) && random.chance(0.2) ? Number(code) : code,
  };
  return { customer, random };
}

/** Number of repeated views of each product: the keys are products. */
function favourites(shop: Shop, random: Random): Document {
  const products = Array.from({ length: random.integer(1, 5) }, () => productSoldAt(shop, period.to, random));
  return Object.fromEntries(products.map(({ id }) => [id.toHexString(), random.integer(1, 12)]));
}

function locationOf({ longitude, latitude }: Place, random: Random): Document {
  const nearby = (degrees: number) => Math.round((degrees + random.fraction() / 5 - 0.1) * 1e5) / 1e5;
  return { type: 'Point', coordinates: [nearby(longitude), nearby(latitude)] };
}

function phone(random: Random): string {
  return `+${random.integer(1, 98)} ${random.integer(100, 999)} ${random.integer(1_000_000, 9_999_999)}`;
}

/** Reduces a name to the letters of a mail address. */
function lettersOf(name: string): string {
  const letters = name.normalize('NFKD').toLowerCase().replaceAll('ł', 'l').replaceAll('ø', 'o');
  return letters.replace(/[^a-z]/g, '') || 'customer';
}
