/** Ranges of IPv4 addresses in CIDR form. Two of them are disjoint, or one lies within the other. */
import { blockedIPv4 } from './public-addresses.ts';

export interface AddressRange {
  /** The first address as a number below 2^32; bits behind the prefix are zero. */
  first: number;
  prefix: number;
}

const blocked = blockedIPv4.map((text) => {
  const range = parseAddressRange(text);
  if (range === null) throw new Error(`No range of addresses: ${text}`);
  return range;
});

/** Parses `a.b.c.d` or `a.b.c.d/len`, and sets the bits behind the prefix to zero; null for anything else. */
export function parseAddressRange(text: string): AddressRange | null {
  const [, address, digits = '32'] = /^(\d{1,3}(?:\.\d{1,3}){3})(?:\/(\d{1,2}))?$/.exec(text) ?? [];
  if (address === undefined) return null;
  const bytes = address.split('.');
  // A leading zero means octal to some programs.
  if (bytes.some((byte) => Number(byte) > 255 || /^0\d/.test(byte)) || /^0\d/.test(digits)) return null;
  const prefix = Number(digits);
  if (prefix > 32) return null;
  const number = bytes.reduce((sum, byte) => sum * 256 + Number(byte), 0);
  return { first: number - (number % sizeOf(prefix)), prefix };
}

/** Returns `a.b.c.d/len`. */
export function formatAddressRange({ first, prefix }: AddressRange): string {
  const bytes = [24, 16, 8, 0].map((shift) => Math.floor(first / 2 ** shift) % 256);
  return `${bytes.join('.')}/${prefix}`;
}

/** Returns the smaller of two ranges when it lies within the other; null for disjoint ones. */
export function intersectRanges(one: AddressRange, other: AddressRange): AddressRange | null {
  const [large, small] = one.prefix <= other.prefix ? [one, other] : [other, one];
  return small.first - (small.first % sizeOf(large.prefix)) === large.first ? small : null;
}

/** Returns true when the range has an address that no sandbox may reach. */
export function overlapsBlocked(range: AddressRange): boolean {
  return blocked.some((other) => intersectRanges(range, other) !== null);
}

function sizeOf(prefix: number): number {
  return 2 ** (32 - prefix);
}
