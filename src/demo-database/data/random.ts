/**
 * Generates pseudo-random numbers that are the same on every machine and in every release of Node. Each document has
 * its own sequence, from the seed, the name of its kind and its place, so any of them can be made without the others.
 * BSON values for the demo data are made of them.
 */
import { Binary, Decimal128, ObjectId } from 'bson';

/** Values with their relative frequencies. */
export type Weighted<T> = readonly (readonly [value: T, weight: number])[];

/** SplitMix: scrambles a number that grows by the golden ratio. */
export class Random {
  #state: number;

  constructor(seed: number, name: string, place: number) {
    const ofName = [...name].reduce((bits, letter) => scramble(bits ^ letter.charCodeAt(0)), scramble(seed));
    this.#state = scramble(ofName + place);
  }

  /** Returns 32 bits. */
  bits(): number {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    return scramble(this.#state) >>> 0;
  }

  /** Ranges from 0 to below 1. */
  fraction(): number {
    return this.bits() / 2 ** 32;
  }

  /** Ranges likewise; smaller values are more frequent. Multiplied, since a power may differ between releases of Node. */
  lowFraction(): number {
    const fraction = this.fraction();
    return fraction * fraction;
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

/** The finalizer of MurmurHash3: every bit of the input changes half of the output's. */
function scramble(value: number): number {
  let bits = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}

/** Byte of an id that names its collection. */
export const idSpaces = { customers: 0xc0, products: 0xb0, orders: 0xa0, events: 0xe0 } as const;

/** Has a driver's layout: seconds, five bytes of its maker, and a counter. */
export function idAt(seed: number, space: keyof typeof idSpaces, place: number, at: number): ObjectId {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt32BE(Math.floor(at / 1000), 0);
  bytes.writeUInt32BE(seed, 4);
  bytes.writeUInt8(idSpaces[space], 8);
  bytes.writeUIntBE(place, 9, 3);
  return new ObjectId(bytes);
}

/**
 * Returns an amount with its two decimals: 19.90 stays 19.90. Written in IEEE 754's layout, the number of cents and
 * the exponent −2, since most documents hold several and parsing them from text takes longer than all the rest.
 */
export function money(cents: number): Decimal128 {
  const bytes = Buffer.alloc(16);
  bytes.writeBigUInt64LE(BigInt(cents), 0);
  bytes.writeUInt16LE((EXPONENT_BIAS - 2) << 1, 14);
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
