/**
 * Strings that mean an objectId or a date become one, where the schema says that the field holds these: a server compares
 * only within one type, so as strings they would match nothing. Nothing is changed without a note.
 *
 * Where the field holds strings too, a comparison for equality asks for both; a range cannot, and stays as it is.
 */
import { ObjectId } from 'bson';
import type { CollectionSchema } from '../../model/document-schema.ts';
import { limits } from '../../model/limits.ts';
import { fieldAt } from '../../model/schema-lookup.ts';
import { type Happening, tellCoercions } from './coercion-notes.ts';
import { type Change, type Condition, mapFilter } from './filter-walk.ts';
import { leadingOf, type Stage, without } from './leading-stages.ts';
import { type Reading, readText } from './text-values.ts';
import { documentOf, type Held, heldBy, isDocument } from './values.ts';

export interface Coerced<T> {
  filter: T;
  notes: string[];
}

/** @param parameter What the caller knows the filter as. */
export function coerceFilter<T>(filter: T, schema: CollectionSchema, parameter = 'filter_dict'): Coerced<T> {
  const happenings: Happening[] = [];
  const heldAt = rememberHeld(schema);
  const coerced = mapFilter(filter, (condition) => {
    const coercion = new Coercion(heldAt, condition);
    const change = coercion.change();
    happenings.push(...coercion.happenings);
    return change;
  });
  return { filter: coerced, notes: tellCoercions(happenings, parameter) };
}

/** Only what still reads the collection's own documents: a later stage may have given a field's name to anything. */
export function coercePipeline(
  stages: readonly Stage[],
  schema: CollectionSchema,
  parameter = 'pipeline',
): { stages: readonly Stage[]; notes: string[] } {
  const { leading } = leadingOf(stages);
  const notes: string[] = [];
  const coerced = [...stages];
  for (const { index, name, body, written } of leading) {
    if (name !== '$match') continue;
    const result = coerceFilter(body, without(schema, written), `${parameter}[${index}]`);
    coerced[index] = Object.is(result.filter, body)
      ? (stages[index] as Stage)
      : { ...stages[index], $match: result.filter };
    notes.push(...result.notes);
  }
  return { stages: coerced, notes };
}

const RANGES = new Set(['$gt', '$gte', '$lt', '$lte']);
/** What asks for one value or another in the place of what asks for one. */
const LIST_OF = new Map([
  ['$eq', '$in'],
  ['$ne', '$nin'],
]);
/** Fields without any strings are taken at their word from this share on. */
const MOSTLY = 0.5;

/** Of one condition. */
class Coercion {
  readonly happenings: Happening[] = [];
  readonly #heldAt: HeldAt;
  readonly #condition: Condition;

  constructor(heldAt: HeldAt, condition: Condition) {
    this.#heldAt = heldAt;
    this.#condition = condition;
  }

  change(): Change | null {
    const { path, operator, value, beside } = this.#condition;
    if ((operator === '$in' || operator === '$nin') && Array.isArray(value)) {
      return this.#replaced(this.#list(path, value));
    }
    const list = LIST_OF.get(operator);
    if (list !== undefined && typeof value === 'string') {
      const read = this.#read(path, value);
      if (read === null) return null;
      if (!read.besideStrings) return this.#replaced(this.#note(path, value, read, 'replaced'));
      if (Object.hasOwn(beside, list)) return this.#replaced(this.#exact(path, value));
      return { operator: list, value: [value, this.#note(path, value, read, 'added')] };
    }
    const compares = list !== undefined || RANGES.has(operator) || operator === '$all';
    return compares ? this.#replaced(this.#exact(path, value)) : null;
  }

  #replaced(value: unknown): Change | null {
    const { operator, value: before } = this.#condition;
    return Object.is(value, before) ? null : { operator, value };
  }

  /** Each of these may match: where strings are held too, what a string means goes beside it. */
  #list(path: string, items: unknown[]): unknown[] {
    const there = new Set(items.map(keyOf));
    const listed = items.flatMap((item) => {
      if (typeof item !== 'string') return [this.#exact(path, item)];
      const read = this.#read(path, item);
      if (read === null) return [item];
      if (!read.besideStrings) return [this.#note(path, item, read, 'replaced')];
      return there.has(keyOf(read.value)) ? [item] : [item, this.#note(path, item, read, 'added')];
    });
    const same = listed.length === items.length && listed.every((item, index) => item === items[index]);
    return same ? items : listed;
  }

  /** One value that must match as a whole: nothing can stand beside it. */
  #exact(path: string, value: unknown): unknown {
    if (typeof value === 'string') {
      const read = this.#read(path, value);
      if (read === null) return value;
      const instead = this.#note(path, value, read, read.besideStrings ? 'left' : 'replaced');
      return read.besideStrings ? value : instead;
    }
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#exact(path, item));
      return items.some((item, index) => !Object.is(item, value[index])) ? items : value;
    }
    if (!isDocument(value)) return value;
    const entries = Object.entries(value).map(([key, item]): [string, unknown] => [
      key,
      this.#exact(`${path}.${key}`, item),
    ]);
    const changed = entries.some(([key, item]) => !Object.is(item, value[key]));
    return changed ? documentOf(entries) : value;
  }

  #read(path: string, text: string): Read | null {
    const reading = readText(text);
    if (reading === null) return null;
    const held = this.#heldAt(path);
    const share = held?.shares.get(reading.type) ?? 0;
    const besideStrings = held?.shares.has('string') === true;
    return share >= (besideStrings ? Number.EPSILON : MOSTLY) ? { ...reading, besideStrings } : null;
  }

  #note(path: string, text: string, read: Read, outcome: Happening['outcome']): Reading['value'] {
    this.happenings.push({ path, operator: this.#condition.operator, text, read, outcome });
    return read.value;
  }
}

type HeldAt = (path: string) => Held | null;

/** Looked up once a path, however long the list of its values is; past the bound nothing is known. */
function rememberHeld(schema: CollectionSchema): HeldAt {
  const known = new Map<string, Held | null>();
  return (path) => {
    const remembered = known.get(path);
    if (remembered !== undefined || known.size >= limits.documents.hintedConditions)
      return remembered ?? null;
    const field = fieldAt(schema, path);
    const held = field && heldBy(field);
    known.set(path, held);
    return held;
  };
}

interface Read extends Reading {
  besideStrings: boolean;
}

/** The same for equal objectIds and dates; strings are never the same as these. */
function keyOf(value: unknown): unknown {
  if (value instanceof Date) return `date ${value.getTime()}`;
  return value instanceof ObjectId ? `objectId ${value.toHexString()}` : null;
}
