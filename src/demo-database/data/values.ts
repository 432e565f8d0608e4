/** Makes BSON values for the demo data. */
import { Binary, Decimal128, ObjectId } from 'bson';
import type { Random } from './random.ts';

/** Byte of an id that names its collection. */
export const idSpaces = { customers: 0xc0, products: 0xb0, orders: 0xa0, events: 0xe0 } as const;
export type IdSpace = keyof typeof idSpaces;

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
