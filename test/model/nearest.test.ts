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
    ['ab', ['ab'], []],
    ['a-b', ['ab'], []],
    ['abc', ['abd'], ['abd']],
    ['abc', ['axd'], []],
    ['abcdef', ['abcxyf'], ['abcxyf']],
    ['abcdef', ['abxxxf'], []],
    ['user-name', ['userName'], ['userName']],
    ['stat', ['status_of_all'], ['status_of_all']],
    ['status_of_all', ['sta'], ['sta']],
    ['code', ['statusCode'], ['statusCode']],
    ['tusc', ['statusCode'], []],
    ['acb', ['abc'], ['abc']],
    // A swap of two neighbours is one edit, wherever it stands; anything like it is two.
    ['abdc', ['abcd'], ['abcd']],
    ['axyd', ['abcd'], []],
    ['axbd', ['abcd'], []],
    ['acxd', ['abcd'], []],
    ['xbdc', ['abcd'], []],
    ['xyzwvu', ['abcdefgh'], []],
    // Two letters are too few to be the begin of a word.
    ['abcdef', ['ab'], []],
    ['memroy', ['memory_gb'], ['memory_gb']],
    ['memory_mb', ['memory_gb'], ['memory_gb']],
    ['disk', ['disk_size_gb', 'dusk'], ['disk_size_gb']],
    [`${'a'.repeat(100)}bbbb`, ['a'.repeat(100)], ['a'.repeat(100)]],
  ])('for %j of %j is %j', (word, known, meant) => {
    expect(nearest(word, known)).toEqual(meant);
  });

  it('gives the closest first, and so many', () => {
    expect(nearest('order', ['borders', 'older', 'orders', 'shoes'], 2)).toEqual(['older', 'orders']);
    expect(nearest('created', ['crxxted', 'creatxd', 'creatyd'], 2)).toEqual(['creatxd', 'creatyd']);
    expect(nearest('created', ['crxxted', 'creatxd'], 5)).toEqual(['creatxd', 'crxxted']);
  });
});
