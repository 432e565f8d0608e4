/** Collects the values of a field, those in its arrays included. */
import { limits } from '../../model/limits.ts';
import { code } from './bson-types.ts';
import { KnownValues } from './known-values.ts';
import {
  approximately,
  bigJson,
  dateJson,
  decimalBytes,
  decimalJson,
  longAt,
  numberJson,
} from './value-json.ts';

const { enumValues, enumValueBytes, examples, exampleChars, shapedFirst } = limits.documents.schema;

/** Bytes kept of a value that serves only as an example: enough for the widest characters shown. */
const exampleBytes = exampleChars * 4 + 16;

export class Values {
  /** Values of the types that an enum can have. */
  readonly enumerable = new KnownValues(enumValues);
  /** Values of the other types, and texts too long for an enum. */
  readonly other = new KnownValues(examples);
  readonly range = new Range();
  readonly shapes = new Shapes();
  #strings = 0;
  #others = 0;

  /** @param after End of the value; the bounds are checked already. */
  add(typeCode: number, view: DataView, at: number, after: number): void {
    if (typeCode !== code.string) this.#others++;
    switch (typeCode) {
      case code.string:
        this.#text(view, at + 4, after - at - 5);
        break;
      case code.int:
        this.range.number(view.getInt32(at, true));
        if (!this.enumerable.full) this.enumerable.add(typeCode, view, at, 4);
        break;
      case code.long:
        this.range.long(view, at);
        if (!this.enumerable.full) this.enumerable.add(typeCode, view, at, 8);
        break;
      case code.bool:
        if (!this.enumerable.full) this.enumerable.add(typeCode, view, at, 1);
        break;
      case code.double:
        this.range.number(view.getFloat64(at, true));
        this.#example(typeCode, view, at, after);
        break;
      case code.date:
        this.range.date(view, at);
        this.#example(typeCode, view, at, after);
        break;
      case code.decimal:
        this.range.decimal(view, at);
        this.#example(typeCode, view, at, after);
        break;
      case code.symbol:
      case code.javascript:
        this.#example(typeCode, view, at + 4, after - 1);
        break;
      default:
        this.#example(typeCode, view, at, after);
    }
  }

  /** Shapes of the strings, for a field that holds other types too. */
  get patterns(): string[] {
    return this.#strings > 0 && this.#others > 0 ? this.shapes.list() : [];
  }

  merge(other: Values): void {
    this.enumerable.merge(other.enumerable);
    this.other.merge(other.other);
    this.range.merge(other.range);
    this.shapes.merge(other.shapes);
    this.#strings += other.#strings;
    this.#others += other.#others;
  }

  #text(view: DataView, at: number, length: number): void {
    this.#strings++;
    const isLookedAt = this.#others > 0 || this.#strings <= shapedFirst;
    if (isLookedAt && length > 0 && length <= enumValueBytes && !this.shapes.full) {
      this.shapes.add(Buffer.from(view.buffer, view.byteOffset + at, length).toString('utf8'));
    }
    if (length > enumValueBytes) {
      if (!this.enumerable.full) this.enumerable.close();
      this.#example(code.string, view, at, at + length);
    } else if (!this.enumerable.full) {
      this.enumerable.add(code.string, view, at, length);
    }
  }

  #example(typeCode: number, view: DataView, at: number, after: number): void {
    const length = after - at;
    if (!this.other.full) this.other.add(typeCode, view, at, length, Math.min(length, exampleBytes));
  }
}

const { shapedStrings, shapes: mostShapes, shownShapes } = limits.documents.schema;

/** Number of strings that must share a word to show it. */
const several = 2;

/**
 * Describes the shapes of a field's strings: `12.5 kg` is `9.9 kg`. Runs of digits become one 9; a word stays when
 * several strings have it in that place, and becomes an `a` otherwise, so that no single string's words show.
 */
class Shapes {
  readonly #counts = new Map<string, number>();
  #strings = 0;

  /** Takes no more strings. */
  get full(): boolean {
    return this.#strings >= shapedStrings;
  }

  add(text: string): void {
    this.#count(text.replace(/\p{Nd}+/gu, '9'), 1);
  }

  merge(other: Shapes): void {
    for (const [shape, count] of other.#counts) this.#count(shape, count);
  }

  /** Returns a few, the most frequent first. A single word among many is no information. */
  list(): string[] {
    const found = new Map<string, number>();
    for (const [shape, count] of this.#counts) {
      const shown = count >= several ? shape : wordless(shape);
      found.set(shown, (found.get(shown) ?? 0) + count);
    }
    found.delete('a');
    const byCount = [...found].toSorted(([, a], [, b]) => b - a);
    return byCount.slice(0, shownShapes).map(([shape]) => shape);
  }

  /** Shapes beyond the limit are counted without their words. */
  #count(shape: string, count: number): void {
    this.#strings += count;
    const isRoom = this.#counts.has(shape) || this.#counts.size < mostShapes;
    const kept = isRoom ? shape : wordless(shape);
    if (isRoom || this.#counts.has(kept) || this.#counts.size < 2 * mostShapes) {
      this.#counts.set(kept, (this.#counts.get(kept) ?? 0) + count);
    }
  }
}

function wordless(shape: string): string {
  return shape.replace(/\p{L}+/gu, 'a');
}

// Tracks the smallest and the largest of a field's numbers, and of its dates, in slots that cost no allocation.

/** Values in the form of relaxed Extended JSON. */
export interface Bounds {
  min: unknown;
  max: unknown;
}

/** A number that no double represents: a long beyond 2^53 or a decimal. */
interface Exact {
  approximation: number;
  value: bigint | Uint8Array;
}

const none = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

export class Range {
  /** Lowest, highest. */
  readonly #numbers = Float64Array.from(none);
  /** Earliest, latest, in milliseconds. */
  readonly #dates = Float64Array.from(none);
  #min: Exact | null = null;
  #max: Exact | null = null;

  number(value: number): void {
    widen(this.#numbers, value);
  }

  long(view: DataView, at: number): void {
    const value = longAt(view, at);
    if (Number.isSafeInteger(value)) widen(this.#numbers, value);
    else this.#widenExactly({ approximation: value, value: view.getBigInt64(at, true) });
  }

  decimal(view: DataView, at: number): void {
    const approximation = approximately(view, at);
    if (Number.isNaN(approximation) || this.#holds(approximation)) return;
    const bytes = new Uint8Array(view.buffer, view.byteOffset + at, decimalBytes);
    this.#widenExactly({ approximation, value: bytes.slice() });
  }

  /** Beyond 2^53 it is no date that a program could mean. */
  date(view: DataView, at: number): void {
    const value = longAt(view, at);
    if (Number.isSafeInteger(value)) widen(this.#dates, value);
  }

  merge(other: Range): void {
    widenBy(this.#numbers, other.#numbers);
    widenBy(this.#dates, other.#dates);
    for (const exact of [other.#min, other.#max]) if (exact) this.#widenExactly(exact);
  }

  numbers(): Bounds | null {
    const [low = 0, high = 0] = this.#numbers;
    const isEmpty = low > high;
    if (isEmpty && this.#min === null) return null;
    const isLower = this.#min !== null && (isEmpty || this.#min.approximation < low);
    const isHigher = this.#max !== null && (isEmpty || this.#max.approximation > high);
    return {
      min: isLower && this.#min ? exactJson(this.#min) : numberJson(low),
      max: isHigher && this.#max ? exactJson(this.#max) : numberJson(high),
    };
  }

  dates(): Bounds | null {
    const [earliest = 0, latest = 0] = this.#dates;
    return earliest > latest ? null : { min: dateJson(earliest), max: dateJson(latest) };
  }

  #holds(approximation: number): boolean {
    return (
      this.#min !== null &&
      this.#max !== null &&
      approximation >= this.#min.approximation &&
      approximation <= this.#max.approximation
    );
  }

  #widenExactly(exact: Exact): void {
    if (this.#min === null || isLess(exact, this.#min)) this.#min = exact;
    if (this.#max === null || isLess(this.#max, exact)) this.#max = exact;
  }
}

function widenBy(bounds: Float64Array, [low = 0, high = 0]: Float64Array): void {
  if (low > high) return;
  widen(bounds, low);
  widen(bounds, high);
}

/** NaN changes nothing, since it compares as neither. */
function widen(bounds: Float64Array, value: number): void {
  if (value < (bounds[0] ?? 0)) bounds[0] = value;
  if (value > (bounds[1] ?? 0)) bounds[1] = value;
}

function isLess(a: Exact, b: Exact): boolean {
  if (a.approximation !== b.approximation) return a.approximation < b.approximation;
  return typeof a.value === 'bigint' && typeof b.value === 'bigint' && a.value < b.value;
}

function exactJson({ value }: Exact): unknown {
  return typeof value === 'bigint' ? bigJson(value) : decimalJson(value);
}
