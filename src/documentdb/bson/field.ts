/** Extracts top-level fields of a raw document by name, without reading their values. */

import { limits } from '../../model/limits.ts';
import { bsonType, checkLeast, documentEnd, int32, MalformedBson, stringEnd, terminator } from './bytes.ts';
import { deserialize } from './library.ts';

/**
 * Returns a document that holds this field alone; null when there is none. The first of several with the name
 * counts.
 */
export function fieldDocument(bson: Uint8Array, name: string): Uint8Array | null {
  const wanted = Buffer.from(name);
  for (const { start, nul, end } of elements(bson)) {
    if (wanted.equals(bson.subarray(start + 1, nul))) return documentOf(bson.subarray(start, end));
  }
  return null;
}

/** Returns the names of the first fields, at most so many. */
function fieldNames(bson: Uint8Array, most: number): string[] {
  const names: string[] = [];
  for (const { start, nul } of elements(bson)) {
    if (names.length === most) break;
    names.push(Buffer.from(bson.subarray(start + 1, nul)).toString('utf8'));
  }
  return names;
}

/** Returns the driver's own type, so that it can go unchanged into a query; undefined when there is none. */
export function readField(bson: Uint8Array, name: string): unknown {
  const document = fieldDocument(bson, name);
  if (document === null) return undefined;
  try {
    return Object.values(deserialize(document, { promoteValues: false, bsonRegExp: true }))[0];
  } catch {
    throw new MalformedBson('a field that cannot be read', 0);
  }
}

interface Element {
  start: number;
  /** End of its name. */
  nul: number;
  end: number;
}

function* elements(bson: Uint8Array): Generator<Element, void, void> {
  const end = documentEnd(bson, 0, bson.length);
  for (let at = 4; at < end; ) {
    const nul = terminator(bson, at + 1, end);
    const next = valueEnd(bson[at] as number, bson, nul + 1, end);
    yield { start: at, nul, end: next };
    at = next;
  }
}

function documentOf(element: Uint8Array): Uint8Array {
  const size = element.length + 5;
  const document = Buffer.alloc(size);
  document.writeInt32LE(size);
  document.set(element, 4);
  return document;
}

function valueEnd(type: number, bson: Uint8Array, at: number, limit: number): number {
  const least = checkLeast(type, at, limit);
  switch (type) {
    case bsonType.string:
    case bsonType.code:
    case bsonType.symbol:
      return stringEnd(bson, at, limit);
    case bsonType.pointer:
      return stringEnd(bson, at, limit - 12) + 12;
    case bsonType.object:
    case bsonType.array:
      return documentEnd(bson, at, limit) + 1;
    case bsonType.binary:
      return bounded(at + 5, int32(bson, at), limit);
    case bsonType.codeWithScope:
      return bounded(at, int32(bson, at), limit);
    case bsonType.regularExpression:
      return terminator(bson, terminator(bson, at, limit) + 1, limit) + 1;
    default:
      return at + least;
  }
}

function bounded(at: number, size: number, limit: number): number {
  if (size < 0 || at + size > limit) throw new MalformedBson('a wrong length', at);
  return at + size;
}

const { savedNames, savedNamesOf, noteNameChars } = limits.documents;

/** Collects the field names of a result's first documents, which describe the lines of a saved file to its reader. */
export class FirstNames {
  readonly #names = new Set<string>();
  #documents = 0;

  /** In order of first appearance; long ones are cut. */
  get list(): string[] {
    return [...this.#names];
  }

  add(document: Uint8Array): void {
    if (this.#documents === savedNamesOf) return;
    this.#documents++;
    for (const name of fieldNames(document, savedNames)) {
      if (this.#names.size === savedNames) return;
      this.#names.add(name.slice(0, noteNameChars).toWellFormed());
    }
  }
}
