/** Shares of the network log's room. */
import { describe, expect, it } from 'vitest';
import { levelOf, surplusOf } from '../../../src/control/network/network-log.ts';

describe('the level', () => {
  it.each([
    [[10, 10], 20, Number.POSITIVE_INFINITY],
    [[10, 10], 10, 5],
    [[2, 30, 30], 20, 9],
    [[5, 5, 5], 2, 0],
    [[], 5, Number.POSITIVE_INFINITY],
  ])('of %j in a room of %i is %d', (lengths, room, level) => {
    expect(levelOf(lengths, room)).toBe(level);
  });
});

describe('the surplus', () => {
  const log = (owner: string | null, length: number) => ({ owner, events: Array(length).fill({}) });
  const most = (logs: ReturnType<typeof log>[], room: number) => {
    const surplus = surplusOf(logs, room);
    return logs.map((one) => surplus.get(one) ?? one.events.length);
  };

  it('is of the owners with most, each in equal parts of its sandboxes', () => {
    expect(most([log('a', 8), log('b', 60), log('b', 2), log('b', 60)], 50)).toEqual([8, 20, 2, 20]);
  });

  it('is all of the oldest logs where one has more logs than its share', () => {
    expect(most([log('a', 1), log('a', 1), log('a', 1), log('b', 5)], 4)).toEqual([0, 1, 1, 2]);
  });

  it('of logs whose owner is not known is theirs together', () => {
    expect(most([log(null, 10), log(null, 10), log('a', 10)], 20)).toEqual([5, 5, 10]);
  });
});
