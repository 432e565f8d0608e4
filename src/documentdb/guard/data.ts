/**
 * Restricts a query's values: plain objects, lists, BSON values and JSON's own. This check comes before any
 * meaning, and bounds the work of every walk after it.
 *
 * Invariant: an accepted value reads the same to the walks and to the serializer. So there is no Map, no accessor,
 * no prototype of its own and no key that either treats differently.
 */

import { limits } from '../../model/limits.ts';
import { BSONValue, Code, DBRef } from '../bson/library.ts';
import { tooManyValues } from '../bson/parse/place.ts';
import { type Place, refused, within } from './place.ts';

export type PlainObject = Readonly<Record<string, unknown>>;

export function checkData(value: unknown, place: Place): void {
  visit(value, place, 0, { left: limits.documents.queryNodes });
}

/** Returns true for a document: no list, no BSON value, although the serializer writes some of those as documents. */
export function isPlainObject(value: unknown): value is PlainObject {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function visit(value: unknown, place: Place, depth: number, budget: { left: number }): void {
  if (--budget.left < 0) {
    throw refused(place, `${tooManyValues.problem}.`, tooManyValues.hint);
  }
  if (typeof value !== 'object' || value === null) {
    checkScalar(value, place);
    return;
  }
  if (depth >= limits.documents.depth) {
    throw refused(
      place,
      `is nested more than ${limits.documents.depth} deep.`,
      'Nest the query less deeply.',
    );
  }
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) visit(item, within(place, index), depth + 1, budget);
  } else if (isPlainObject(value)) {
    visitObject(value, place, depth, budget);
  } else if (value instanceof BSONValue) {
    for (const inner of valuesInside(value)) visit(inner, place, depth + 1, budget);
  } else if (!(value instanceof Date || value instanceof RegExp || value instanceof Uint8Array)) {
    throw refused(place, 'is not a JSON value.', 'Write JSON or Extended JSON.');
  }
}

function visitObject(value: PlainObject, place: Place, depth: number, budget: { left: number }): void {
  for (const key of Object.keys(value)) {
    const here = within(place, key);
    if (key.includes('\0')) {
      throw refused(here, 'has NUL in its name, which no field can have.', 'Leave the NUL out.');
    }
    if (key === '_bsontype' || key === '__proto__') {
      throw refused(here, 'is a name that queries cannot use.', 'Write typed values in Extended JSON.');
    }
    const property = Object.getOwnPropertyDescriptor(value, key);
    if (property === undefined || !('value' in property)) {
      throw refused(here, 'is not a JSON value.', 'Write JSON or Extended JSON.');
    }
    visit(property.value, here, depth + 1, budget);
  }
}

function checkScalar(value: unknown, place: Place): void {
  if (typeof value === 'function' || typeof value === 'symbol') {
    throw refused(place, 'is not a JSON value.', 'Write JSON or Extended JSON.');
  }
}

function valuesInside(value: BSONValue): unknown[] {
  if (value instanceof DBRef) return [value.oid, value.fields];
  return value instanceof Code ? [value.scope] : [];
}
