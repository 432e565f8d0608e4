import { describe, expect, it } from 'vitest';
import { nearest } from '../../src/model/nearest.ts';

describe('"did you mean"', () => {
  it.each([
    ['nmae', ['name', 'date'], ['name']],
    ['$macth', ['$match', '$merge'], ['$match']],
    ['custmer_id', ['customer_id', 'created_at'], ['customer_id']],
    ['Region', ['region'], ['region']],
    ['memory', ['memory_gb', 'cpu'], ['memory_gb']],
    ['zzz', ['name', 'date'], []],
    ['', ['name'], []],
  ])('for %j of %j is %j', (word, known, meant) => {
    expect(nearest(word, known)).toEqual(meant);
  });

  it('gives the closest first, and so many', () => {
    expect(nearest('order', ['borders', 'older', 'orders', 'shoes'], 2)).toEqual(['older', 'orders']);
  });
});
