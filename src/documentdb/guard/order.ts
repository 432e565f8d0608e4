/** Checks orders of fields: 1 and −1, in `$sort` a score too. */
import { Double, Int32, Long } from '../bson/library.ts';
import { isPlainObject, type PlainObject } from './data.ts';
import { metaNames } from './expression-operators.ts';
import { type Place, refused, within } from './place.ts';
import { lookAlike, looksLikeOperator, unknownKey } from './refusals.ts';

export function checkOrder(order: PlainObject, place: Place): void {
  for (const key of Object.keys(order)) {
    const here = within(place, key);
    checkPath(key, here);
    const value = order[key];
    if (isDirection(value)) continue;
    if (!isPlainObject(value)) throw noDirection(here);
    checkScore(value, here);
  }
}

/** Checks a sort outside a pipeline: directions only. */
export function checkDirections(order: Iterable<readonly [string, unknown]>, place: Place): void {
  for (const [key, value] of order) {
    const here = within(place, key);
    checkPath(key, here);
    if (!isDirection(value)) throw noDirection(here);
  }
}

/** Checks a field path; operators are refused in it. */
export function checkPath(path: string, place: Place): void {
  if (looksLikeOperator(path)) throw lookAlike(path, place);
  if (path === '')
    throw refused(place, 'names no field.', 'Name the field by its path, such as "address.city".');
  if (path.split('.').some((part) => part.startsWith('$') && !['$id', '$ref', '$db'].includes(part))) {
    throw refused(
      place,
      'has an operator in the place of a field.',
      'Name the field by its path, such as "address.city".',
    );
  }
}

function checkScore(value: PlainObject, place: Place): void {
  for (const key of Object.keys(value)) {
    if (key !== '$meta') throw unknownKey(key, within(place, key), 'an order', ['$meta']);
  }
  const name = value['$meta'];
  if (typeof name !== 'string' || !metaNames.includes(name)) throw noDirection(place);
}

function isDirection(value: unknown): boolean {
  const known = value instanceof Double || value instanceof Int32 || value instanceof Long;
  const number = known ? Number(value.toString()) : value;
  return number === 1 || number === -1;
}

function noDirection(place: Place): Error {
  return refused(place, 'is no direction.', 'Use 1 for ascending and -1 for descending.');
}
