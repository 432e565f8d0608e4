/** What the DNS forwarder has is shared by owners, however many machines they have. */
import { expect, it } from 'vitest';
import { DnsShares } from '../../src/runtime/oci/network/dns/query.ts';

/** Machines at `owner/number`. */
const shares = () => new DnsShares((address) => address.split('/')[0] ?? '');

it('an owner of many machines makes room for one who has a single one', () => {
  const { waiting } = shares();
  const evicted: string[] = [];
  const enter = (address: string) => waiting.enter(address, () => evicted.push(address));
  for (let at = 0; at < 1_024; at++) expect(enter(`mallory/${at}`)).not.toBeNull();
  for (let at = 0; at < 64; at++) expect(enter('alice/0')).not.toBeNull();
  expect(evicted).toHaveLength(64);
  expect(evicted.every((address) => address.startsWith('mallory/'))).toBe(true);
  // Nothing is taken from her for him.
  expect(enter('mallory/2000')).toBeNull();
});

it('a machine has 64 queries and 8 connections, and what it leaves it may have again', () => {
  const { waiting, connections } = shares();
  const leaves = Array.from({ length: 64 }, () => waiting.enter('alice/0', () => {}));
  expect(waiting.enter('alice/0', () => {})).toBeNull();
  expect(waiting.enter('alice/1', () => {})).not.toBeNull();
  leaves[0]?.();
  leaves[0]?.();
  expect(waiting.enter('alice/0', () => {})).not.toBeNull();
  expect(waiting.enter('alice/0', () => {})).toBeNull();

  for (let at = 0; at < 8; at++) expect(connections.enter('mallory/0', () => {})).not.toBeNull();
  expect(connections.enter('mallory/0', () => {})).toBeNull();
});
