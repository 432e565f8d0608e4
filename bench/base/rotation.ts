/**
 * Orders of the sides in the rounds of one cycle. A call depends on its predecessor: after a slow side the processors
 * are warm or busy, and the caches another's. So each side stands equally often at each place, and comes equally
 * often directly after each side: after another one within a round, after itself where one round follows another.
 *
 * The orders are Williams' designs (two for an odd number of sides, each the mirror of the other; two for four), put
 * into a sequence in which each begins with the side that ended the one before.
 */
const designs = [
  'a',
  'ab ba',
  'abc cab bac cba acb bca',
  'abdc cbad dabc cdba acdb bcad dacb bdca',
  'abecd dceba aebdc cbdae edacb baced decab bcade eadbc cdbea',
].map((design) => design.split(' '));

const FIRST = 'a'.charCodeAt(0);

/** Returns the orders of one cycle, which repeats. Throws for more than five sides. */
export function ordersOf<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  const design = designs[items.length - 1];
  if (!design) throw new RangeError(`no balanced orders of ${items.length} sides`);
  return design.map((order) => [...order].map((letter) => items[letter.charCodeAt(0) - FIRST] as T));
}
