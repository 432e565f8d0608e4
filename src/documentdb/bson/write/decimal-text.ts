/** Formats a decimal128 (binary integer encoding) exactly, trailing zeros included. */
import { int32 } from '../bytes.ts';

const EXPONENT_BIAS = 6176;
const MAX_COEFFICIENT = 10n ** 34n - 1n;

/** Reads the 16 bytes at `at`. */
export function decimalText(bytes: Uint8Array, at: number): string {
  const word = (offset: number) => int32(bytes, at + offset) >>> 0;
  const high = word(12);
  const sign = high >>> 31 === 1 ? '-' : '';
  // Five combination bits: 11110 means infinity, 11111 NaN; another 11 prefix, a coefficient out of range.
  const kind = (high >>> 26) & 0x1f;
  if (kind === 0x1f) return 'NaN';
  if (kind === 0x1e) return `${sign}Infinity`;
  if (kind >= 0x18) return sign + plainOrScientific('0', ((high >>> 15) & 0x3fff) - EXPONENT_BIAS);
  const exponent = ((high >>> 17) & 0x3fff) - EXPONENT_BIAS;
  return sign + plainOrScientific(coefficient(word(0), word(4), word(8), high & 0x1ffff), exponent);
}

function coefficient(lowest: number, lower: number, higher: number, highest: number): string {
  if (highest === 0 && higher === 0 && lower < 2 ** 21) return String(lower * 2 ** 32 + lowest);
  const all = (BigInt(highest) << 96n) | (BigInt(higher) << 64n) | (BigInt(lower) << 32n) | BigInt(lowest);
  // IEEE 754: a non-canonical coefficient counts as zero.
  return all > MAX_COEFFICIENT ? '0' : String(all);
}

function plainOrScientific(digits: string, exponent: number): string {
  const adjusted = exponent + digits.length - 1;
  if (exponent > 0 || adjusted < -6) {
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
    return `${digits[0]}${fraction}E${adjusted < 0 ? '' : '+'}${adjusted}`;
  }
  if (exponent === 0) return digits;
  const whole = digits.length + exponent;
  return whole > 0 ? `${digits.slice(0, whole)}.${digits.slice(whole)}` : `0.${'0'.repeat(-whole)}${digits}`;
}
