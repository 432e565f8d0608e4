/** Parses callers' JSON text and checks its form; the guard decides that it only reads. */
import type { Document } from 'mongodb';
import { FILTER_PARAMETER } from '../../model/document-schema.ts';
import { invalidArgument } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { parseEjson, type TextAllowance, textAllowance } from '../bson/parse/parse.ts';
import { parameterOf } from '../bson/parse/place.ts';

/** Keeps the written order; the driver keeps a map's order even for names that are numbers. */
export type Sort = ReadonlyMap<string, 1 | -1>;

/** Returns `{}` without text: every document. */
export function readFilter(text: string | undefined, allowance = textAllowance()): Document {
  return text === undefined ? {} : readObject(text, filterWords, allowance);
}

/** Returns null for all fields. */
export function readProjection(text: string | undefined, allowance = textAllowance()): Document | null {
  if (text === undefined) return null;
  const projection = readObject(text, projectionWords, allowance);
  if (Object.keys(projection).length === 0) return null;
  refuseMixed(projection);
  return projection;
}

/** Returns null for the server's own order. */
export function readSort(texts: readonly string[] | undefined, allowance = textAllowance()): Sort | null {
  if (texts === undefined || texts.length === 0) return null;
  const { sortFields } = limits.documents;
  if (texts.length > sortFields) throw invalidArgument('sort', `sort takes at most ${sortFields} fields.`);
  const sort = new Map<string, 1 | -1>();
  for (const [index, text] of texts.entries()) {
    const { field, direction } = readCriterion(text, `sort[${index}]`, allowance);
    if (sort.has(field)) {
      const hint = 'Leave one of the two out: the first decides.';
      throw invalidArgument('sort', `sort[${index}] names the field '${field}' a second time.`, hint);
    }
    sort.set(field, direction);
  }
  return sort;
}

export function readPipeline(texts: readonly string[]): Document[] {
  const { stages } = limits.documents;
  if (texts.length > stages) throw invalidArgument('pipeline', `pipeline takes at most ${stages} stages.`);
  const allowance = textAllowance();
  const words = { what: 'one stage', example: '{"$match": {"status": "paid"}}' };
  return texts.map((text, index) => readObject(text, { ...words, place: `pipeline[${index}]` }, allowance));
}

interface Words {
  place: string;
  what: string;
  example: string;
}

const filterWords: Words = { place: FILTER_PARAMETER, what: 'a filter', example: '{"status": "paid"}' };
const projectionWords: Words = {
  place: 'projection',
  what: 'a projection',
  example: '{"name": 1, "address.city": 1, "_id": 0}',
};

function readObject(text: string, { place, what, example }: Words, allowance: TextAllowance): Document {
  const value = parseEjson(text, place, allowance);
  if (isPlainObject(value)) return value;
  const hint =
    Array.isArray(value) && place.startsWith('pipeline')
      ? `Give each stage as an element of its own of pipeline, e.g. ${example}.`
      : `Give JSON text such as ${example}.`;
  throw invalidArgument(
    parameterOf(place),
    `${place} must be a JSON object (${what}); it is ${kindOf(value)}.`,
    hint,
  );
}

function readCriterion(
  text: string,
  place: string,
  allowance: TextAllowance,
): { field: string; direction: 1 | -1 } {
  const example = '{"field": "created_at", "direction": -1}';
  const value = readObject(text, { place, what: 'one criterion', example }, allowance);
  const hint = hintForCriterion(value) ?? `Give e.g. ${example}.`;
  const wrong = (what: string) => invalidArgument('sort', `${place} ${what}`, hint);

  const unknown = Object.keys(value).find((key) => key !== 'field' && key !== 'direction');
  if (unknown !== undefined) throw wrong(`has the unknown key '${unknown}'; it takes field and direction.`);
  const field: unknown = value['field'];
  if (typeof field !== 'string' || field === '') throw wrong('needs field, the name of a field.');
  if (!('direction' in value)) throw wrong('needs direction: 1 (ascending) or -1 (descending).');
  const direction = numberOf(value['direction']);
  if (direction !== 1 && direction !== -1) {
    throw wrong('has a direction that is neither 1 (ascending) nor -1 (descending).');
  }
  return { field, direction };
}

/** Suggests the right spelling for usual alternatives: `{"created_at": -1}`, and words for directions. */
function hintForCriterion(value: Document): string | null {
  const entries = Object.entries(value);
  const [name, only] = entries[0] ?? [];
  const isShort = entries.length === 1 && name !== undefined && name !== 'field' && name !== 'direction';
  const field: unknown = isShort ? name : value['field'];
  const direction = directionMeant(isShort ? only : value['direction']);
  if (typeof field !== 'string' || direction === null) return null;
  return `Write ${JSON.stringify({ field, direction })}.`;
}

function directionMeant(value: unknown): 1 | -1 | null {
  const plain = typeof value === 'string' ? value.toLowerCase() : numberOf(value);
  if (plain === 1 || plain === '1' || plain === 'asc' || plain === 'ascending') return 1;
  if (plain === -1 || plain === '-1' || plain === 'desc' || plain === 'descending') return -1;
  return null;
}

/** Servers report this late, and in words of their own. `_id` alone may differ from the others. */
function refuseMixed(projection: Document): void {
  const included: string[] = [];
  const excluded: string[] = [];
  collect(projection, '');
  const [shown] = included;
  const [hidden] = excluded;
  if (shown === undefined || hidden === undefined) return;
  throw invalidArgument(
    'projection',
    `projection includes '${shown}' and excludes '${hidden}'; besides _id it does either.`,
    'Name only the fields to include with 1, or only those to exclude with 0.',
  );

  function collect(fields: Document, prefix: string): void {
    for (const [name, value] of Object.entries(fields)) {
      const path = `${prefix}${name}`;
      if (path === '_id') continue;
      const switched = switchOf(value);
      if (switched !== null) (switched ? included : excluded).push(path);
      else if (isPlainObject(value) && !Object.keys(value).some((key) => key.startsWith('$'))) {
        collect(value, `${path}.`);
      }
    }
  }
}

/** Returns true for a shown field, false for a hidden one, null for neither. */
export function switchOf(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value;
  const number = numberOf(value);
  return number === null ? null : number !== 0;
}

/** Accepts a number in any of BSON's forms. */
function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return value;
  const type = bsonType(value);
  const isNumber = type === 'Int32' || type === 'Double' || type === 'Long' || type === 'Decimal128';
  return isNumber ? Number(String(value)) : null;
}

export function isPlainObject(value: unknown): value is Document {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && bsonType(value) === null;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return bsonType(value) ?? (typeof value === 'object' ? 'a value of Extended JSON' : `a ${typeof value}`);
}

function bsonType(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const type: unknown = Reflect.get(value, '_bsontype');
  return typeof type === 'string' ? type : null;
}
