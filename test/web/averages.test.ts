import { expect, it } from 'vitest';
import { averages } from '../../web/src/format/averages.ts';

it.each([
  [[], []],
  [[1, 3], [2]],
  [
    [9, 1, 3, 5, 7],
    [9, 2, 6],
  ],
  [
    [null, 4, null, null],
    [4, 0],
  ],
])('the averages of two neighbours of %j are %j, the newest together', (values, expected) => {
  expect(averages(values, 2)).toEqual(expected);
});
