/** The end of a key, a user's rights or a team's keys is answered when the other replicas have heard of it. */
import { expect, it } from 'vitest';
import { cachedCallers } from '../../../src/store/postgres/cache/caches.ts';
import { RowCache } from '../../../src/store/postgres/cache/row-cache.ts';
import { memoryStore } from '../memory/memory-store.ts';

it.each([
  ['keys.revoke', (store: ReturnType<typeof cachedCallers>) => store.keys.revoke('key_1', 1)],
  ['users.updateUser', (store) => store.users.updateUser('user_1', () => ({ role: 'viewer' }))],
  ['teams.remove', (store) => store.teams.remove('team_1')],
] as [string, (store: ReturnType<typeof cachedCallers>) => Promise<unknown>][])('%s', async (_name, end) => {
  const heard = Promise.withResolvers<void>();
  const cache = new RowCache({ mostBytes: 1, bytesOf: () => 1, rowOf: () => '' });
  const store = cachedCallers(memoryStore(), cache as never, () => heard.promise);
  let isAnswered = false;
  const answered = end(store).then(() => {
    isAnswered = true;
  });
  await new Promise(setImmediate);
  expect(isAnswered).toBe(false);
  heard.resolve();
  await answered;
});
