/** Walks `$jsonSchema`: the server's keywords only, at any depth. */
import { isPlainObject } from './data.ts';
import { type Place, refused, within } from './place.ts';
import { type SchemaSlot, schemaKeywords } from './query-operators.ts';
import { unknownKey } from './refusals.ts';

export function checkSchema(value: unknown, place: Place): void {
  if (!isPlainObject(value))
    throw refused(place, 'must be an object.', 'Write a schema, such as {"required": ["a"]}.');
  for (const key of Object.keys(value)) {
    const here = within(place, key);
    const slot = schemaKeywords.get(key);
    if (slot === undefined) throw unknownKey(key, here, '$jsonSchema', schemaKeywords.keys());
    slots[slot](value[key], here);
  }
}

const slots: Record<SchemaSlot, (value: unknown, place: Place) => void> = {
  literal: () => {},
  schema: checkSchema,
  // `items` takes one, or one for each position.
  schemas: (value, place) => {
    if (!Array.isArray(value)) checkSchema(value, place);
    else for (const [index, item] of value.entries()) checkSchema(item, within(place, index));
  },
  schemaOrFlag: (value, place) => {
    if (typeof value !== 'boolean') checkSchema(value, place);
  },
  schemaByName: (value, place) => checkByName(value, place, false),
  dependencies: (value, place) => checkByName(value, place, true),
};

function checkByName(value: unknown, place: Place, orNames: boolean): void {
  if (!isPlainObject(value)) throw refused(place, 'must be an object.', 'Give a schema for each name.');
  for (const key of Object.keys(value)) {
    // A dependency may also be a list of names.
    if (orNames && Array.isArray(value[key])) continue;
    checkSchema(value[key], within(place, key));
  }
}
