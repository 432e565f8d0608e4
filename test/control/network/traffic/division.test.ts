/** Division of the way out: each owner's share, and what is beyond it. */
import { describe, expect, it } from 'vitest';
import { divide } from '../../../../src/control/network/traffic/traffic-watch.ts';

/** Of a link of 1,000 bytes a second, 950 are divided. */
const capacity = 1_000;

describe('the division of the way out', () => {
  it('leaves one owner all of it, and keeps half for a second one', () => {
    expect(divide([950], capacity, null)).toEqual({ each: 475, rest: 475 });
  });

  it('gives two who want all of it the half, and nothing beyond', () => {
    const alone = divide([950], capacity, null);
    expect(divide([475, 475], capacity, alone)).toMatchObject({ each: 475, rest: 9.5 });
  });

  it('gives what a modest owner leaves to the two who want more', () => {
    expect(divide([500, 500, 50], capacity, { each: 475, rest: 9.5 })).toEqual({ each: 475, rest: 9.5 });
    expect(divide([500, 500, 350], capacity, { each: 475, rest: 9.5 })).toMatchObject({ each: 950 / 3 });
  });

  it('gives each of three who want all of it a third', () => {
    expect(divide([300, 300, 300], capacity, { each: 316, rest: 9.5 })).toEqual({ each: 316, rest: 9.5 });
    expect(divide([475, 470, 460], capacity, { each: 475, rest: 9.5 }).each).toBeCloseTo(316.7, 1);
  });

  it('never gives an owner less than an equal part, however much the others together use', () => {
    const many = Array.from({ length: 100 }, () => 20);
    expect(divide([...many, 900], capacity, { each: 475, rest: 9.5 }).each).toBeCloseTo(950 / 101, 5);
  });

  it('stays as it is where another one would hardly differ', () => {
    const before = { each: 475, rest: 9.5 };
    expect(divide([475, 475, 10], capacity, before)).toBe(before);
  });

  it('is whole while nobody uses anything', () => {
    expect(divide([], capacity, null)).toEqual({ each: 475, rest: 950 });
    expect(divide([0, 0], capacity, null)).toEqual({ each: 475, rest: 950 });
  });
});
