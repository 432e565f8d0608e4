/**
 * Walks filters. Values that the server compares with are left alone; where it would look for operators, only known
 * ones pass.
 *
 * A field's value is operators when its first name begins with "$". Otherwise it is a document to compare with, and
 * everything nested in it is plain data.
 */
import { BSONRegExp } from '../bson/library.ts';
import { isPlainObject, type PlainObject } from './data.ts';
import { checkExpression } from './expression.ts';
import { checkPath } from './order.ts';
import { type Place, refused, type Scope, within } from './place.ts';
import {
  documentOperators,
  elementOperators,
  fieldOperators,
  nearKeys,
  type Operand,
  type QueryOperators as Operators,
  type SchemaSlot,
  schemaKeywords,
  shapeKeys,
  textKeys,
} from './query-operators.ts';
import { unknownKey, unknownOperator } from './refusals.ts';

interface FilterContext {
  scope: Scope;
  /** Position of the filter: of a find, in a pipeline's first stage, in a later one. */
  stands: 'find' | 'first' | 'later';
}

export function checkFilterDocument(filter: unknown, place: Place, context: FilterContext): void {
  checkFields(documentOf(filter, place), place, context, documentOperators);
}

function checkFields(filter: PlainObject, place: Place, context: FilterContext, known: Operators): void {
  for (const key of Object.keys(filter)) {
    const here = within(place, key);
    const value = filter[key];
    if (key.startsWith('$')) {
      const operand = known.get(key);
      if (operand === undefined) throw misplaced(key, here, known);
      operands[operand](value, here, context, known);
    } else {
      checkFieldName(key, here);
      checkComparison(value, here, context);
    }
  }
}

/** Checks a field's operand: operators, or a value. */
function checkComparison(value: unknown, place: Place, context: FilterContext): void {
  if (!isPlainObject(value)) return;
  const keys = Object.keys(value);
  const operator = keys.find((key) => key.startsWith('$'));
  if (operator === undefined || isReference(keys)) return;
  if (!keys[0]?.startsWith('$')) {
    throw refused(
      within(place, operator),
      'stands among the fields of a value, where the server takes it for a field as well.',
      'Give operators alone, or the whole value as {"$eq": …}.',
    );
  }
  checkFieldOperators(value, place, context);
}

function checkFieldOperators(value: PlainObject, place: Place, context: FilterContext): void {
  for (const key of Object.keys(value)) {
    const here = within(place, key);
    const operand = fieldOperators.get(key);
    if (operand === undefined)
      throw unknownOperator(key, here, 'an operator of a field', fieldOperators.keys());
    operands[operand](value[key], here, context, elementOperators);
  }
}

const operands: Record<
  Operand,
  (value: unknown, place: Place, context: FilterContext, known: Operators) => void
> = {
  literal: () => {},
  literals: (value, place) => checkValues(listOf(value, place), place),
  filters: (value, place, context, known) => {
    for (const [index, filter] of listOf(value, place).entries()) {
      const here = within(place, index);
      checkFields(documentOf(filter, here), here, context, known);
    }
  },
  expression: (value, place, { scope }) => checkExpression(value, place, scope),
  schema: checkSchema,
  all: (value, place, context) => checkAll(listOf(value, place), place, context),
  element: checkElement,
  not: checkNot,
  pattern: checkPattern,
  near: checkNear,
  text: checkText,
  shape: (value, place) => checkKeys(value, place, shapeKeys, 'a shape'),
};

function checkValues(values: readonly unknown[], place: Place): void {
  for (const [index, value] of values.entries()) {
    const keys = isPlainObject(value) ? Object.keys(value) : [];
    if (!keys[0]?.startsWith('$') || isReference(keys)) continue;
    throw refused(
      within(within(place, index), keys[0]),
      'is an operator, and the list is of values.',
      'Use $or with one condition for each.',
    );
  }
}

function checkAll(values: readonly unknown[], place: Place, context: FilterContext): void {
  const others = values.filter((value, index) => {
    if (!isPlainObject(value) || Object.keys(value).join() !== '$elemMatch') return true;
    checkElement(value['$elemMatch'], within(within(place, index), '$elemMatch'), context);
    return false;
  });
  checkValues(others, place);
}

/** For a list of documents: a filter on their fields. For a list of plain values: operators. */
function checkElement(value: unknown, place: Place, context: FilterContext): void {
  const filter = documentOf(value, place);
  const [first] = Object.keys(filter);
  const ofValues = first !== undefined && fieldOperators.has(first) && !elementOperators.has(first);
  if (ofValues) checkFieldOperators(filter, place, context);
  else checkFields(filter, place, context, elementOperators);
}

function checkNot(value: unknown, place: Place, context: FilterContext): void {
  if (value instanceof RegExp || value instanceof BSONRegExp) return;
  if (!isPlainObject(value) || Object.keys(value).length === 0) {
    throw refused(place, 'must hold operators or a regular expression.', 'For a value use {"$ne": …}.');
  }
  checkFieldOperators(value, place, context);
}

function checkPattern(value: unknown, place: Place): void {
  if (typeof value === 'string' || value instanceof RegExp || value instanceof BSONRegExp) return;
  throw refused(
    place,
    'must be a string.',
    'Write the regular expression as a string, its flags in $options.',
  );
}

function checkNear(value: unknown, place: Place, context: FilterContext): void {
  if (context.stands !== 'find') {
    throw refused(
      place,
      'sorts by distance, which a filter in a pipeline cannot.',
      'Begin the pipeline with $geoNear, or use $geoWithin with $centerSphere.',
    );
  }
  if (isPlainObject(value)) checkKeys(value, place, nearKeys, '$near');
}

function checkText(value: unknown, place: Place, context: FilterContext): void {
  if (context.stands === 'later') {
    throw refused(place, 'can only stand in the first stage.', 'Move this $match to the beginning.');
  }
  checkKeys(value, place, textKeys, '$text');
}

function checkKeys(value: unknown, place: Place, known: readonly string[], of: string): void {
  for (const key of Object.keys(documentOf(value, place))) {
    // Legacy coordinate pairs may have any names; operators must be known.
    if (!known.includes(key) && key.startsWith('$')) throw unknownKey(key, within(place, key), of, known);
  }
}

/** `{"$ref": …, "$id": …, "$db": …}` is a reference: a value. */
function isReference(keys: readonly string[]): boolean {
  return (
    keys[0] === '$ref' &&
    keys[1] === '$id' &&
    keys.slice(2).every((key) => key === '$db' || !key.startsWith('$'))
  );
}

function checkFieldName(name: string, place: Place): void {
  // Documents can have a field with an empty name.
  if (name !== '') checkPath(name, place);
}

function misplaced(key: string, place: Place, known: Operators): Error {
  if (known === elementOperators && documentOperators.has(key)) {
    return refused(place, 'stands inside of a list.', `Put ${key} beside the fields of the whole document.`);
  }
  return unknownOperator(key, place, 'an operator of filters', known.keys());
}

function documentOf(value: unknown, place: Place): PlainObject {
  if (isPlainObject(value)) return value;
  throw refused(place, 'must be an object.', 'Write {"field": value} or {"field": {"$gte": value}}.');
}

function listOf(value: unknown, place: Place): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw refused(place, 'must be a list.', 'Write it as […], also with one element.');
}

/** Walks `$jsonSchema`: the server's keywords only, at any depth. */
function checkSchema(value: unknown, place: Place): void {
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
