import { expect, it } from 'vitest';
import { mapBounded } from '../../src/concurrency/in-portions.ts';

it('works on so many items at once, and keeps their order', async () => {
  let [running, most] = [0, 0];
  const doubled = await mapBounded([5, 1, 4, 2, 3], 2, async (item) => {
    most = Math.max(most, ++running);
    for (let turn = 0; turn < item; turn++) await Promise.resolve();
    running--;
    return item * 2;
  });
  expect(doubled).toEqual([10, 2, 8, 4, 6]);
  expect(most).toBe(2);
});

it('takes fewer items than it may, and none', async () => {
  expect(await mapBounded([1], 8, async (item) => item)).toEqual([1]);
  expect(await mapBounded([], 8, async (item) => item)).toEqual([]);
});

it('fails with the first failure', async () => {
  const failing = mapBounded([1, 2, 3], 2, async (item) => {
    if (item === 2) throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
});
