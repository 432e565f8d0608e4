/** Places are shared by groups that nobody vouches for; none of them takes all. */
import { expect, it } from 'vitest';
import { Crowd } from '../../src/fairness/crowd.ts';

it('a group has its share and no more', () => {
  const crowd = new Crowd({ total: 10, perGroup: 2 });
  expect(crowd.enter('a', () => {})).not.toBeNull();
  expect(crowd.enter('a', () => {})).not.toBeNull();
  expect(crowd.enter('a', () => {})).toBeNull();
  expect(crowd.of('a')).toBe(2);
});

it('a newcomer takes the place of one of the largest group when all are taken', () => {
  const crowd = new Crowd({ total: 5, perGroup: 4 });
  const evicted: string[] = [];
  for (let at = 0; at < 4; at++) crowd.enter('large', () => evicted.push('large'));
  crowd.enter('small', () => evicted.push('small'));
  expect(crowd.enter('new', () => {})).not.toBeNull();
  expect(evicted).toEqual(['large']);
  expect([crowd.of('large'), crowd.of('small'), crowd.of('new')]).toEqual([3, 1, 1]);
  expect(crowd.size).toBe(5);
});

it('a group that has as much as any other waits for a place', () => {
  const crowd = new Crowd({ total: 2, perGroup: 2 });
  crowd.enter('a', () => {});
  const leave = crowd.enter('b', () => {});
  expect(crowd.enter('c', () => {})).toBeNull();
  leave?.();
  expect(crowd.enter('c', () => {})).not.toBeNull();
});

it('a place is left once, by leaving or by eviction', () => {
  const crowd = new Crowd({ total: 3, perGroup: 3 });
  const leaves = [0, 1, 2].map(() => crowd.enter('a', () => {}));
  crowd.enter('b', () => {});
  expect(crowd.size).toBe(3);
  for (const leave of [...leaves, ...leaves]) leave?.();
  expect(crowd.size).toBe(1);
  expect(crowd.of('b')).toBe(1);
});
