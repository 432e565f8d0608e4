/** Infers the schema of a collection from the added documents. */
import type { FieldSchema } from '../../model/document-schema.ts';
import { limits } from '../../model/limits.ts';
import { MalformedBson } from '../bson/bytes.ts';
import { code, placeOf } from './bson-types.ts';
import { describeFields } from './describe.ts';
import { DocumentStats, FieldBudget, type FieldStats, isNamed } from './document-stats.ts';
import { countAt, ElementStats } from './field-stats.ts';
import { endOfDocument, endOfName, endOfValue } from './value-bounds.ts';

const { fields: mostFields } = limits.documents.schema;

export class SchemaInference {
  readonly #budget = new FieldBudget();
  readonly #walk = new Walk(this.#budget);
  readonly #root = new DocumentStats(this.#budget, true);

  get sampled(): number {
    return this.#root.count;
  }

  /** Adds one BSON document. A damaged one throws; the instance is of no use afterwards. */
  add(document: Uint8Array): void {
    try {
      this.#walk.document(this.#root, document);
    } catch (error) {
      // A read beyond the document's bytes.
      if (error instanceof RangeError) throw new MalformedBson('a value is longer than its document');
      throw error;
    }
  }

  fields(): FieldSchema[] {
    return describeFields(this.#root);
  }

  /** Returns notes about limits that the fields cannot show. */
  notes(): string[] {
    const notes: string[] = [];
    if (this.#budget.exceeded) {
      notes.push(
        `The documents have more than ${mostFields} different fields, or very long names; those met later are left out.`,
      );
    }
    if (this.#walk.tooDeep) {
      notes.push(
        `Documents are nested more than ${limits.documents.depth} levels deep; deeper ones are left out.`,
      );
    }
    return notes;
  }
}

const { depth: deepest } = limits.documents;

/** Number of fields that may be missing in a document before the next one is looked up. */
const guesses = 3;

/**
 * Counts the contents of a document in one pass over its bytes, and decodes nothing.
 *
 * Documents of a collection mostly have the same fields in the same order, so each field remembers its successor: its
 * name is then compared and not looked up.
 */
class Walk {
  /** The document is nested deeper than the walk goes. */
  tooDeep = false;
  readonly #budget: FieldBudget;
  #view: DataView = new DataView(new ArrayBuffer(0));
  /** Number of the current document, nested ones included: marks the last one with a field. */
  #documents = 0;
  /** Start of the value of the last found field. */
  #valueAt = 0;

  constructor(budget: FieldBudget) {
    this.#budget = budget;
  }

  /** Walks a whole document: nothing before it and nothing after it. */
  document(stats: DocumentStats, bytes: Uint8Array): void {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const end = endOfDocument(this.#view, 0, bytes.byteLength);
    if (end !== bytes.byteLength) throw new MalformedBson('something follows it');
    this.#fields(stats, 0, end, 1);
  }

  /** The document's own bounds are already checked; those of its contents are not. */
  #fields(stats: DocumentStats, start: number, end: number, depth: number): void {
    const view = this.#view;
    const last = end - 1;
    const document = ++this.#documents;
    let at = start + 4;
    stats.count++;
    if (at < last) stats.nonEmpty++;
    let previous = stats.head;
    while (at < last) {
      const typeCode = view.getUint8(at++);
      const field = this.#field(stats, previous, at, last);
      at = this.#valueAt;
      const after = endOfValue(view, typeCode, at, last);
      if (field !== null) {
        const isFirst = field.lastIn !== document;
        if (isFirst) {
          field.lastIn = document;
          field.present++;
        }
        // The first of duplicate names counts, as in the server's queries.
        if (field === stats.data || isFirst) {
          countAt(field.types, placeOf(typeCode));
          this.#value(field, typeCode, at, after, depth);
        }
        if (field !== stats.data) previous = field;
      }
      at = after;
    }
  }

  #field(stats: DocumentStats, previous: FieldStats, at: number, last: number): FieldStats | null {
    const view = this.#view;
    let guess = previous.next;
    for (let i = 0; i < guesses && guess !== null; i++) {
      if (isNamed(guess, view, at)) {
        this.#valueAt = at + guess.nameBytes;
        return guess;
      }
      guess = guess.next;
    }
    const end = endOfName(view, at, last);
    const field = stats.find(view, at, end - at);
    if (field !== null && field !== stats.data) previous.next = field;
    this.#valueAt = end + 1;
    return field;
  }

  #value(field: FieldStats, typeCode: number, at: number, after: number, depth: number): void {
    switch (typeCode) {
      case code.object:
        this.#object(field, at, after, depth);
        break;
      case code.array: {
        field.elements ??= new ElementStats();
        field.addLength(this.#array(field, field.elements, at, after, depth));
        break;
      }
      case code.null:
      case code.undefined:
      case code.minKey:
      case code.maxKey:
        break;
      default:
        field.values.add(typeCode, this.#view, at, after);
    }
  }

  #object(field: FieldStats, at: number, end: number, depth: number): void {
    if (depth === deepest) {
      this.tooDeep = true;
      return;
    }
    field.documents ??= new DocumentStats(this.#budget, false);
    this.#fields(field.documents, at, end, depth + 1);
  }

  /** Returns the number of elements. */
  #array(field: FieldStats, stats: ElementStats, start: number, end: number, depth: number): number {
    const view = this.#view;
    const last = end - 1;
    let at = start + 4;
    let length = 0;
    while (at < last) {
      const typeCode = view.getUint8(at);
      at = endOfName(view, at + 1, last) + 1;
      const after = endOfValue(view, typeCode, at, last);
      countAt(stats.types, placeOf(typeCode));
      if (typeCode === code.array) this.#nested(field, stats, at, after, depth + 1);
      else this.#value(field, typeCode, at, after, depth);
      length++;
      at = after;
    }
    return length;
  }

  /** Walks an array in an array. */
  #nested(field: FieldStats, around: ElementStats, at: number, end: number, depth: number): void {
    if (depth >= deepest) {
      this.tooDeep = true;
      return;
    }
    around.elements ??= new ElementStats();
    this.#array(field, around.elements, at, end, depth);
  }
}
