/** The numbers and values that the demo data is made of. */
import { Decimal128, ObjectId, UUID } from 'bson';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { idAt, idSpaces, money, Random, trace, uuid } from '../../../src/demo-database/data/random.ts';
import { momentOf, period } from '../../../src/demo-database/data/shop.ts';

const seeds = fc.integer({ min: 0, max: 2 ** 32 - 1 });

describe('values', () => {
  it('amounts are what their text with two decimals reads as', () => {
    const amounts = fc.oneof(
      fc.maxSafeNat(),
      fc.nat(200),
      fc.constantFrom(0, 5, 10, 100, 1_990, 2 ** 32, 2 ** 32 - 1),
    );
    fc.assert(
      fc.property(amounts, (cents) => {
        const digits = String(cents).padStart(3, '0');
        const text = `${digits.slice(0, -2)}.${digits.slice(-2)}`;
        expect(money(cents).toString()).toBe(text);
        expect(Buffer.from(money(cents).bytes)).toEqual(Buffer.from(Decimal128.fromString(text).bytes));
      }),
    );
  });

  it('ids hold their creation time, and differ by seed, collection and place', () => {
    const spaces = fc.constantFrom(...(Object.keys(idSpaces) as (keyof typeof idSpaces)[]));
    const whose = fc.tuple(seeds, spaces, fc.nat(10_000_000));
    const at = Date.UTC(2025, 2, 1, 12);
    fc.assert(
      fc.property(whose, whose, (one, other) => {
        const [first, second] = [idAt(...one, at), idAt(...other, at)];
        expect(first).toBeInstanceOf(ObjectId);
        expect(first.getTimestamp().getTime()).toBe(at);
        expect(first.equals(second)).toBe(one.join() === other.join());
      }),
    );
  });

  it('UUIDs are of version 4, traces beyond 2^53', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const random = new Random(seed, 'any', 0);
        expect(UUID.isValid(uuid(random).toUUID().toHexString())).toBe(true);
        expect(uuid(random).toUUID().toHexString()).toMatch(/^.{14}4.{4}[89ab]/);
        expect(trace(random) > 2n ** 53n).toBe(true);
      }),
    );
  });
});

describe('random numbers', () => {
  it('are of their range, both ends included', () => {
    const random = new Random(1, 'range', 0);
    const drawn = Array.from({ length: 2_000 }, () => random.integer(-2, 3));
    expect([...new Set(drawn)].toSorted((a, b) => a - b)).toEqual([-2, -1, 0, 1, 2, 3]);
    const fractions = Array.from({ length: 2_000 }, () => random.fraction());
    expect(fractions.every((fraction) => fraction >= 0 && fraction < 1)).toBe(true);
  });

  it('come as often as their weights demand', () => {
    const random = new Random(2, 'weights', 0);
    const drawn = Array.from({ length: 10_000 }, () =>
      random.pickWeighted([
        ['often', 9],
        ['never', 0],
        ['seldom', 1],
      ]),
    );
    expect(drawn).not.toContain('never');
    const seldom = drawn.filter((value) => value === 'seldom').length;
    expect(Math.abs(seldom - 1_000)).toBeLessThan(150);
  });

  it('of neighbouring places have nothing to do with each other', () => {
    const first = Array.from({ length: 10_000 }, (_, place) => new Random(1, 'places', place).fraction());
    const mean = first.reduce((sum, fraction) => sum + fraction, 0) / first.length;
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.02);
    const together = first.slice(1).map((fraction, place) => (fraction - 0.5) * ((first[place] ?? 0) - 0.5));
    expect(Math.abs(together.reduce((sum, product) => sum + product, 0) / together.length)).toBeLessThan(
      0.005,
    );
    expect(new Set(first).size).toBeGreaterThan(9_990);
  });
});

describe('moments', () => {
  it('go with the share, from the first hour to the last', () => {
    const shares = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(shares, shares, (one, other) => {
        const [first, second] = [momentOf(Math.min(one, other)), momentOf(Math.max(one, other))];
        expect(first).toBeGreaterThanOrEqual(period.from);
        expect(second).toBeGreaterThanOrEqual(first);
        expect(second).toBeLessThan(period.to);
      }),
    );
    expect(momentOf(0)).toBe(period.from);
    expect(new Date(momentOf(1 - Number.EPSILON)).toISOString()).toMatch(/^2026-06-30T23/);
  });
});
