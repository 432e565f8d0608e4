/**
 * Addresses that a machine may not reach: the firewall drops them, the DNS forwarder rejects answers with them, and the
 * service connects to none of them for others. All that IANA lists as not globally reachable, except the two documentation
 * networks that are routed nowhere by themselves, and the clouds' metadata services on public addresses.
 */
import { BlockList, isIP } from 'node:net';

export const blockedIPv4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // Azure's platform service.
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  // Relays of 6to4, which nobody should run any more.
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/3',
];

/**
 * All beside 2000::/3, of which alone IANA assigns addresses of the internet, and in it the networks of its list. Some embed
 * IPv4 addresses: a translator could turn them into private ones.
 */
const blockedIPv6 = ['::/3', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20', '4000::/2', '8000::/1'];

// Two lists: a BlockList of both would also look up an IPv4 address among IPv6 ranges, in its mapped form.
const ipv4List = listOf(blockedIPv4, 'ipv4');
const ipv6List = listOf(blockedIPv6, 'ipv6');

/** Returns false for what is no address. */
export function isPublic(address: string): boolean {
  const family = isIP(address);
  return family === 4 ? isPublicIPv4(address) : family === 6 && isPublicIPv6(address);
}

export function isPublicIPv4(address: string): boolean {
  return !ipv4List.check(address, 'ipv4');
}

export function isPublicIPv6(address: string): boolean {
  return !ipv6List.check(address, 'ipv6');
}

function listOf(ranges: string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/');
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}

// Ranges of IPv4 addresses in CIDR form. Two of them are disjoint, or one lies within the other.

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
