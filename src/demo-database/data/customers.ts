/** Makes the shop's customers. Their ids and regions are known without the rest. */
import type { Document, ObjectId } from 'bson';
import { productId, productSoldAt } from './products.ts';
import { dayText, idAt, Random } from './random.ts';
import { DAY_MS, period, type Shop } from './shop.ts';
import { first, last, regions, streets, tags, text } from './words.ts';

const FIRST_CUSTOMER = Date.UTC(2022, 6, 1);
/** Earlier records keep some dates as text, and codes as numbers. */
const OLD_SYSTEM_UNTIL = Date.UTC(2024, 0, 1);

const weighted = regions.map((region) => [region, region.share] as const);

/** Picks a customer who had joined by then; older ones come more often. */
export function customerBy({ customers }: Shop, at: number, random: Random): number {
  const joined = Math.floor((customers * (at - FIRST_CUSTOMER)) / (period.to - FIRST_CUSTOMER));
  return Math.floor(joined * random.lowFraction());
}

export function customerId(shop: Shop, place: number): ObjectId {
  return idAt(shop.seed, 'customers', place, joiningOf(shop, place));
}

export function regionOf({ seed }: Shop, place: number) {
  return new Random(seed, 'regions', place).pickWeighted(weighted);
}

export function addressOf(shop: Shop, place: number): Document {
  const random = new Random(shop.seed, 'addresses', place);
  const { country, cities, centre } = regionOf(shop, place);
  const isNumber = joiningOf(shop, place) < OLD_SYSTEM_UNTIL && random.chance(0.2);
  const code = random.integer(10_000, 99_999);
  return {
    street: `${random.pick(streets)} ${random.integer(1, 180)}`,
    city: random.pick(cities),
    postal_code: isNumber ? code : String(code),
    country,
    location: {
      type: 'Point',
      coordinates: centre.map((degrees) => degrees + random.integer(-200, 200) / 100),
    },
  };
}

export function customerDocument(shop: Shop, place: number): Document {
  const random = new Random(shop.seed, 'customers', place);
  const at = joiningOf(shop, place);
  const name = { first: random.pick(first), last: random.pick(last) };
  const isOld = at < OLD_SYSTEM_UNTIL;
  // Number of repeated views of each product: the keys are products.
  const favourites = Array.from({ length: random.integer(1, 5) }, () => [
    productId(shop, productSoldAt(shop, period.to, random)).toHexString(),
    random.integer(1, 12),
  ]);
  return {
    _id: customerId(shop, place),
    email: `${lettersOf(name.first)}.${lettersOf(name.last)}.${place}@example.${random.pick(['com', 'org'])}`,
    name,
    region: regionOf(shop, place).name,
    address: addressOf(shop, place),
    // Null means "will not say", a missing one was never asked.
    ...(random.chance(0.6) && { phone: random.chance(0.1) ? null : `+49 40 ${random.integer(1e6, 9e6)}` }),
    ...(random.chance(0.35) && { birth_date: new Date(Date.UTC(1945, 0, random.integer(1, 22_000))) }),
    tier: random.pick(['bronze', 'bronze', 'silver', 'gold']),
    loyalty: { points: Math.floor(12_000 * random.lowFraction()), since: new Date(at + DAY_MS) },
    // A number in the old system, text in the new one.
    ...(isOld && { legacy_id: random.chance(0.8) ? random.integer(1_000, 99_999) : `C-${place}` }),
    joined_at: isOld && random.chance(0.1) ? dayText(at) : new Date(at),
    marketing: { email: random.chance(0.4), ...(random.chance(0.3) && { sms: random.chance(0.5) }) },
    tags: tags.filter(() => random.chance(0.15)),
    ...(random.chance(0.5) && { favourites: Object.fromEntries(favourites) }),
    ...(random.chance(0.04) && { notes: text(random, random.integer(1, 30)) }),
  };
}

/** One after the other, at even distances. */
function joiningOf({ customers }: Shop, place: number): number {
  return Math.floor(FIRST_CUSTOMER + ((place + 0.5) / customers) * (period.to - FIRST_CUSTOMER));
}

/** Reduces a name to the letters of a mail address. */
function lettersOf(name: string): string {
  return (
    name
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[^a-z]/g, '') || 'customer'
  );
}
