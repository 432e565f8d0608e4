/** BSON values that the demo data is made of. */
import { Binary, Decimal128, ObjectId } from 'bson';
import type { Random } from './random.ts';

/** Which collection an id is of: a byte of it. */
export const idSpaces = { customers: 0xc0, products: 0xb0, orders: 0xa0, events: 0xe0 } as const;
export type IdSpace = keyof typeof idSpaces;

/** As a driver makes them: seconds, five bytes of whoever made it, and a counter. */
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
 * An amount with its two decimals: 19.90 stays 19.90. Written as IEEE 754 has it, the number of cents and the exponent
 * −2, since most documents hold several and reading them from text takes longer than all the rest.
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

/** A random UUID, as binary. */
export function uuid(random: Random): Binary {
  const bytes = random.bytes(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return new Binary(bytes, Binary.SUBTYPE_UUID);
}

/** Beyond 2^53, as services that number their traces have them. */
export function trace(random: Random): bigint {
  return (1n << 62n) | (BigInt(random.bits() >>> 2) << 32n) | BigInt(random.bits());
}

/** `2025-03-01`, as an older system wrote dates. */
export function dayText(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
