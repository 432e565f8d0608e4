/** Which addresses are public: none of a private or reserved network is, at either end of it. */
import { describe, expect, it } from 'vitest';
import { isPublicIPv4, isPublicIPv6 } from '../../../src/model/network/public-addresses.ts';

describe('an IPv4 address is not public at both ends of', () => {
  it.each([
    ['this network', '0.0.0.0', '0.255.255.255'],
    ['a private network of class A', '10.0.0.0', '10.255.255.255'],
    ['the networks of carriers', '100.64.0.0', '100.127.255.255'],
    ['the loopback', '127.0.0.0', '127.255.255.255'],
    ['the platform service of a cloud', '168.63.129.16', '168.63.129.16'],
    ['the link and its metadata', '169.254.0.0', '169.254.255.255'],
    ['the private networks of class B', '172.16.0.0', '172.31.255.255'],
    ['protocol assignments', '192.0.0.0', '192.0.0.255'],
    ['the first documentation', '192.0.2.0', '192.0.2.255'],
    ['relays of 6to4', '192.88.99.0', '192.88.99.255'],
    ['the private networks of class C', '192.168.0.0', '192.168.255.255'],
    ['benchmarks', '198.18.0.0', '198.19.255.255'],
    ['multicast, reserved and broadcast', '224.0.0.0', '255.255.255.255'],
  ])('%s: %s and %s', (_network, first, last) => {
    expect(isPublicIPv4(first)).toBe(false);
    expect(isPublicIPv4(last)).toBe(false);
  });
});

it.each([
  ...[
    '1.0.0.0',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
  ],
  ...['168.63.129.15', '168.63.129.17', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0'],
  ...[
    '191.255.255.255',
    '192.0.1.0',
    '192.0.3.0',
    '192.88.98.255',
    '192.88.100.0',
    '192.167.255.255',
    '192.169.0.0',
    '198.17.255.255',
  ],
  ...['198.20.0.0', '223.255.255.255'],
])('%s, beside such a network, is public', (address) => {
  expect(isPublicIPv4(address)).toBe(true);
});

describe('an IPv6 address is not public at both ends of', () => {
  it.each([
    ['the unspecified, the loopback and mapped addresses', '::', 'ff:ffff::'],
    ['translated addresses', '64:ff9b::', '64:ff9b:ffff::ffff'],
    ['the discarded', '100::', '100::ffff:ffff:ffff:ffff'],
    ['the dummy prefix', '100:0:0:1::', '100:0:0:1:ffff:ffff:ffff:ffff'],
    ['what lies before the addresses of the internet', '::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['protocol assignments, tunnels among them', '2001::', '2001:1ff:ffff::'],
    ['documentation', '2001:db8::', '2001:db8:ffff::'],
    ['6to4, which embeds IPv4 addresses', '2002::', '2002:ffff::'],
    ['the newer documentation', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['segments of source routes', '5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['what lies behind the addresses of the internet', '4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['unique local addresses', 'fc00::', 'fdff:ffff::'],
    ['the link and former sites', 'fe80::', 'feff:ffff::'],
    ['multicast', 'ff00::', 'ffff:ffff::'],
  ])('%s: %s and %s', (_network, first, last) => {
    expect(isPublicIPv6(first)).toBe(false);
    expect(isPublicIPv6(last)).toBe(false);
  });
});

it.each([
  ...['2000::', '2001:200::', '2001:db7:ffff::', '2001:db9::', '2001:ffff::', '2003::', '2606:4700::1111'],
  ...['3ffe:ffff:ffff::', '3fff:1000::', '3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
])('%s, beside such a network, is public', (address) => {
  expect(isPublicIPv6(address)).toBe(true);
});
