/** Memory of replicas that were given up. */
import { expect, it } from 'vitest';
import { GivenUp } from '../../../src/store/postgres/membership.ts';

it('keeps 1,000 given-up replicas, and forgets those asked for longest ago', () => {
  const givenUp = new GivenUp();
  for (let at = 0; at < 1_000; at++) givenUp.add(`replica_${at}`);
  expect(givenUp.has('replica_0')).toBe(true);
  for (let at = 1_000; at < 1_500; at++) givenUp.add(`replica_${at}`);
  expect(givenUp.size).toBe(1_000);
  expect(givenUp.has('replica_0')).toBe(true);
  expect(givenUp.has('replica_500')).toBe(false);
  expect(givenUp.has('replica_501')).toBe(true);
  expect(givenUp.has('replica_1499')).toBe(true);
});
