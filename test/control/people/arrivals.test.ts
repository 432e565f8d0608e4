/** People whom the identity provider brings: their role by its groups, and what ends with a role. */
import { expect, it } from 'vitest';
import { arrive } from '../../../src/control/people/arrivals.ts';
import type { Role } from '../../../src/model/user.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

it('ends what an admin reads inside when the groups make no admin any more', async () => {
  const store = memoryStore();
  const ended: string[] = [];
  const callerRights = { ended: (id: string) => void ended.push(id) };
  const claims = {
    ...{ issuer: 'https://id.example.org', subject: 'grace', email: 'grace@example.org', name: 'Grace' },
    ...{ groups: [], sid: null, emailVerified: true },
  };
  const come = (role: Role | null) => arrive(store, claims, { role, signedIn: null, callerRights, now: 0 });
  // The last admin stays one.
  await store.users.insertUser({
    ...{ id: 'user_1', name: 'Ada', email: 'ada@example.org', role: 'admin' },
    ...{ createdAt: 0, disabledAt: null, quota: {} },
  });
  const { id } = await come('admin');
  await come(null);
  await come('admin');
  expect(ended).toEqual([]);
  expect(await come('member')).toMatchObject({ id, role: 'member' });
  expect(ended).toEqual([`reading/${id}`]);
});
