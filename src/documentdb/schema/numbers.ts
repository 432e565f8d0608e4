/** Converts BSON's wide numbers to doubles, which order them well enough. */

export const decimalBytes = 16;

const two32 = 2 ** 32;
const two64 = 2 ** 64;
const two96 = 2 ** 96;

/** Exact within ±2^53. */
export function longAt(view: DataView, at: number): number {
  return view.getInt32(at + 4, true) * two32 + view.getUint32(at, true);
}

/** Returns the nearest double of an IEEE 754-2008 decimal with a binary coefficient. */
export function approximately(view: DataView, at: number): number {
  const top = view.getUint32(at + 12, true);
  const sign = top >>> 31 === 1 ? -1 : 1;
  const combination = (top >>> 26) & 0x1f;
  if (combination === 0x1f) return Number.NaN;
  if (combination === 0x1e) return sign * Number.POSITIVE_INFINITY;
  // Coefficients of the other form exceed 34 digits, which makes them zero.
  if (combination >= 0x18) return 0;
  const exponent = ((top >>> 17) & 0x3fff) - 6176;
  const coefficient =
    (top & 0x1ffff) * two96 +
    view.getUint32(at + 8, true) * two64 +
    view.getUint32(at + 4, true) * two32 +
    view.getUint32(at, true);
  return sign * scaled(coefficient, exponent);
}

/** Division by a power of ten is exact where the power is, so 0.1 becomes the double 0.1. */
function scaled(coefficient: number, exponent: number): number {
  if (coefficient === 0) return 0;
  return exponent < 0 ? coefficient / 10 ** -exponent : coefficient * 10 ** exponent;
}
