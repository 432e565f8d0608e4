import { expect, it } from 'vitest';
import { paged } from '../../src/concurrency/in-portions.ts';

it('yields all rows in the order of their ids, and reads a page at a time', async () => {
  const ids = ['a', 'b', 'c', 'd', 'e'];
  const asked: string[] = [];
  const rows = paged(async (afterId) => {
    asked.push(afterId);
    return ids
      .filter((id) => id > afterId)
      .slice(0, 2)
      .map((id) => ({ id }));
  });
  const seen: string[] = [];
  for await (const { id } of rows) {
    seen.push(id);
    if (id === 'a') expect(asked).toEqual(['']);
  }
  expect(seen).toEqual(ids);
  expect(asked).toEqual(['', 'b', 'd', 'e']);
});
