/** A connection goes where the service has checked, whatever form of lookup the socket asks for. */
import { expect, it, vi } from 'vitest';
import { pinnedLookup } from '../../src/outbound/addresses.ts';

const CHECKED = [
  { address: '2001:db8::1', family: 6 },
  { address: '192.0.2.1', family: 4 },
];

it('a pinned lookup gives all checked addresses to a socket that tries each', () => {
  const answered = vi.fn();
  pinnedLookup(CHECKED)('example.org', { all: true }, answered);
  expect(answered.mock.calls).toEqual([
    [
      null,
      [
        { address: '2001:db8::1', family: 6 },
        { address: '192.0.2.1', family: 4 },
      ],
    ],
  ]);
});

it('a pinned lookup gives the first checked address to a socket that asks for one', () => {
  const answered = vi.fn();
  pinnedLookup(CHECKED)('example.org', {}, answered);
  expect(answered.mock.calls).toEqual([[null, '2001:db8::1', 6]]);
});
