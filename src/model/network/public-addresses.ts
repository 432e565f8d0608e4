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
