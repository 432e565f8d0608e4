/**
 * Generates pseudo-random numbers that are the same on every machine and in every release of Node. Each document has
 * its own sequence, from the seed, the name of its kind and its place, so any of them can be made without the others.
 * BSON values for the demo data are made of them.
 */
import { Binary, Decimal128, ObjectId } from 'bson';

/** Values with their relative frequencies. */
export type Weighted<T> = readonly (readonly [value: T, weight: number])[];

export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number, name: string, place: number) {
    this.#a = scramble(seed | 0);
    this.#b = scramble(this.#a ^ hashOf(name));
    this.#c = scramble(this.#b ^ place);
    // The first few of one place resemble those of the next.
    for (let i = 0; i < 8; i++) this.bits();
  }

  /** Returns 32 bits, by Chris Doty-Humphrey's Small Fast Counting generator. */
  bits(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** Ranges from 0 to below 1. */
  fraction(): number {
    return this.bits() / 2 ** 32;
  }

  /**
   * Smaller values are more frequent. Multiplied, since a power may differ in its last bit between releases of
   * Node.
   */
  lowFraction(factors: number): number {
    const fraction = this.fraction();
    let product = fraction;
    for (let i = 1; i < factors; i++) product *= fraction;
    return product;
  }

  /** Both ends are inclusive. */
  integer(from: number, to: number): number {
    return from + Math.floor(this.fraction() * (to - from + 1));
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(values: readonly T[]): T {
    return values[this.integer(0, values.length - 1)] as T;
  }

  pickWeighted<T>(values: Weighted<T>): T {
    let left = this.fraction() * values.reduce((sum, [, weight]) => sum + weight, 0);
    const found = values.find(([, weight]) => {
      left -= weight;
      return left < 0;
    });
    return (found ?? values.at(-1))?.[0] as T;
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.bits() >>> 24);
  }
}

/** FNV-1a. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return hash;
}

/** The finalizer of MurmurHash3: every bit of the input changes half of the output's. */
function scramble(value: number): number {
  let bits = (value + 0x9e3779b9) | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}

/** Byte of an id that names its collection. */
export const idSpaces = { customers: 0xc0, products: 0xb0, orders: 0xa0, events: 0xe0 } as const;
type IdSpace = keyof typeof idSpaces;

/** Has a driver's layout: seconds, five bytes of its maker, and a counter. */
export function idAt(seed: number, space: IdSpace, place: number, at: number): ObjectId {
  const bytes = new Uint8Array(12);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, Math.floor(at / 1000));
  view.setUint32(4, seed);
  view.setUint32(8, place);
  // The counter has the last three bytes.
  bytes[8] = idSpaces[space];
  return new ObjectId(bytes);
}

/**
 * Returns an amount with its two decimals: 19.90 stays 19.90. Written in IEEE 754's layout, the number of cents and
 * the exponent −2, since most documents hold several and parsing them from text takes longer than all the rest.
 */
export function money(cents: number): Decimal128 {
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, cents % 2 ** 32, true);
  view.setUint32(4, Math.floor(cents / 2 ** 32), true);
  view.setUint16(14, (EXPONENT_BIAS - 2) << 1, true);
  return new Decimal128(bytes);
}

const EXPONENT_BIAS = 6176;

/** Returns a random UUID, as binary. */
export function uuid(random: Random): Binary {
  const bytes = random.bytes(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return new Binary(bytes, Binary.SUBTYPE_UUID);
}

/** Returns a number beyond 2^53, like the trace ids of some services. */
export function trace(random: Random): bigint {
  return (1n << 62n) | (BigInt(random.bits() >>> 2) << 32n) | BigInt(random.bits());
}

/** Returns `2025-03-01`, an older system's form of dates. */
export function dayText(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
