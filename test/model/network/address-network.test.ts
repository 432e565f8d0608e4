/** Addresses that one party has many of count as one. */
import { expect, it } from 'vitest';
import { networkOf } from '../../../src/model/network/arrival.ts';

it.each([
  ['198.51.100.7', '198.51.100.250'],
  ['::ffff:198.51.100.7', '198.51.100.8'],
  ['2001:db8:0:7::1', '2001:db8::7:ffff:2:3:4'],
  ['2001:db8::1', '2001:db8::2'],
])('%s and %s are of one network', (a, b) => {
  expect(networkOf(a)).toBe(networkOf(b));
});

it.each([
  ['198.51.100.7', '198.51.101.7'],
  ['2001:db8:0:7::1', '2001:db8:0:8::1'],
  ['2001:db8::1', '198.51.100.7'],
])('%s and %s are not', (a, b) => {
  expect(networkOf(a)).not.toBe(networkOf(b));
});

it.each([
  ['198.51.100.7', '198.51.100'],
  ['::FFFF:198.51.100.7', '198.51.100'],
  ['::1', '0:0:0:0'],
  ['2001:db8::', '2001:db8:0:0'],
  ['2001:0DB8::1:2:3:4:5', '2001:db8:0:1'],
  ['1:2:3:4:5:6:7:8', '1:2:3:4'],
  ['a client', 'a client'],
  ['', ''],
])('the network of %j is %j', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
