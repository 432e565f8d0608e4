/** Tracks the smallest and the largest of a field's numbers, and of its dates, in slots that cost no allocation. */
import {
  approximately,
  bigJson,
  dateJson,
  decimalBytes,
  decimalJson,
  longAt,
  numberJson,
} from './value-json.ts';

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
