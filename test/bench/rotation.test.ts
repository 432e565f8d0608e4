import { describe, expect, it } from 'vitest';
import { ordersOf } from '../../bench/base/rotation.ts';

const sides = ['a', 'b', 'c', 'd', 'e'];

function count(items: readonly string[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(items, (item) => item)].map(([item, all]) => [item, all.length]));
}

describe('the orders of a cycle', () => {
  it.each([
    [1, 1],
    [2, 2],
    [3, 6],
    [4, 8],
    [5, 10],
  ])('of %i sides are %i, each with all sides', (number, rounds) => {
    const some = sides.slice(0, number);
    const orders = ordersOf(some);
    expect(orders).toHaveLength(rounds);
    for (const order of orders) expect(order.toSorted()).toEqual(some);
  });

  it.each([
    [2, 1],
    [3, 2],
    [4, 2],
    [5, 2],
  ])('put each of %i sides %i times at each place', (number, times) => {
    const places = ordersOf(sides.slice(0, number)).flatMap((order) =>
      order.map((side, place) => `${side}${place}`),
    );
    expect(new Set(places).size).toBe(number * number);
    expect(new Set(Object.values(count(places)))).toEqual(new Set([times]));
  });

  it.each([
    [2, 1],
    [3, 2],
    [4, 2],
    [5, 2],
  ])('let each of %i sides follow each of them %i times, itself included', (number, times) => {
    const turns = ordersOf(sides.slice(0, number)).flat();
    const pairs = turns.map((side, index) => `${turns.at(index - 1)}${side}`);
    expect(new Set(pairs).size).toBe(number * number);
    expect(new Set(Object.values(count(pairs)))).toEqual(new Set([times]));
  });

  it('are refused for more sides than there are designs', () => {
    expect(() => ordersOf([1, 2, 3, 4, 5, 6])).toThrow(RangeError);
  });

  it('of no side have no turn', () => {
    expect(ordersOf([])).toEqual([[]]);
  });
});
