/** Network of an address, for sharing places: a client with one of its addresses has many. */
import { isIP } from 'node:net';
import { plainAddress } from './arrival.ts';

/** Returns the /24 of an IPv4 address, the /64 of an IPv6 address, and any other text unchanged. */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  if (isIP(plain) === 4) return plain.slice(0, plain.lastIndexOf('.'));
  if (isIP(plain) !== 6) return plain;
  const [front = '', back] = plain.split('::');
  const words = front === '' ? [] : front.split(':');
  const behind = back === undefined || back === '' ? [] : back.split(':');
  const zeros = back === undefined ? 0 : 8 - words.length - behind.length;
  const all = [...words, ...Array(Math.max(0, zeros)).fill('0'), ...behind];
  return all
    .slice(0, 4)
    .map((word) => Number.parseInt(word, 16).toString(16))
    .join(':');
}
