/** What every implementation of the authorizations' port does: one for each user and provider. */
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../../src/control/ports/index.ts';
import type { Authorization } from '../../../src/model/provider.ts';
import { alice, bob } from '../fixtures.ts';
import type { StoreFactory } from './conformance.ts';

const provider = 'https://github.com';

export function authorization(overrides: Partial<Authorization> = {}): Authorization {
  return {
    id: 'auth_1',
    userId: alice.id,
    provider,
    account: { id: '7', login: 'alice-at-work' },
    tokens: {
      accessToken: 'canary-access-1',
      accessExpiresAt: 5_000,
      refreshToken: 'canary-refresh-1',
      refreshExpiresAt: 9_000,
      scopes: ['repo'],
    },
    createdAt: 1_000,
    updatedAt: 1_000,
    ...overrides,
  };
}

const withoutRefresh = {
  accessToken: 'canary-access-2',
  accessExpiresAt: null,
  refreshToken: null,
  refreshExpiresAt: null,
  scopes: [],
};

/** @param create Makes an empty store; the suite closes it. */
export function authorizationConformance(name: string, create: StoreFactory): void {
  let store: Store;

  beforeEach(async () => {
    store = await create();
    await store.users.insertUser(alice);
    await store.users.insertUser(bob);
    onTestFinished(() => store.close());
  });

  describe(`${name}: authorizations`, () => {
    it('are given back as they were put, to their user and for their provider', async () => {
      const { authorizations } = store;
      await authorizations.put(authorization());
      await authorizations.put(
        authorization({ id: 'auth_2', provider: 'https://git.example.org', tokens: withoutRefresh }),
      );
      expect(await authorizations.get(alice.id, provider)).toEqual(authorization());
      expect(await authorizations.get(bob.id, provider)).toBeNull();
      expect(await authorizations.get(alice.id, 'https://other.example.org')).toBeNull();
      expect((await authorizations.list(alice.id)).map(({ id }) => id)).toEqual(['auth_2', 'auth_1']);
      expect(await authorizations.list(bob.id)).toEqual([]);
    });

    it('take the place of an earlier one of the same user and provider', async () => {
      const { authorizations } = store;
      await authorizations.put(authorization());
      await authorizations.put(authorization({ id: 'auth_2', tokens: withoutRefresh }));
      expect(await authorizations.list(alice.id)).toEqual([
        authorization({ id: 'auth_2', tokens: withoutRefresh }),
      ]);
    });

    it('are renewed by one at a time, whose turn ends with the renewal, when it is left, or with its time', async () => {
      const { authorizations } = store;
      await authorizations.put(authorization());
      const take = (seen = 1_000, forMs = 30_000) => authorizations.takeRenewal('auth_1', seen, forMs);
      const before = Date.now();
      const turns = await Promise.all([take(), take(), take(999)]);
      const [turn = 0] = turns.filter((each) => each !== null);
      expect(turns.filter((each) => each === null)).toHaveLength(2);
      expect(turn - before).toBeGreaterThan(29_000);
      expect(turn - before).toBeLessThan(60_000);
      await authorizations.leaveRenewal('auth_1', turn - 1);
      expect(await take()).toBeNull();
      await authorizations.leaveRenewal('auth_1', turn);
      const brief = (await take(1_000, 50)) ?? 0;
      await expect.poll(() => take()).not.toBeNull();
      await authorizations.leaveRenewal('auth_1', brief);
      expect(await take()).toBeNull();
      await authorizations.renew('auth_1', withoutRefresh, 2_000);
      expect(await take()).toBeNull();
      expect(await take(2_000)).not.toBeNull();
      expect(await authorizations.takeRenewal('auth_2', 2_000, 1)).toBeNull();
    });

    it('are renewed while they are there, and not brought back when they are gone', async () => {
      const { authorizations } = store;
      await authorizations.put(authorization());
      expect(await authorizations.renew('auth_1', withoutRefresh, 2_000)).toBe(true);
      const renewed = authorization({ tokens: withoutRefresh, updatedAt: 2_000 });
      expect(await authorizations.get(alice.id, provider)).toEqual(renewed);
      expect(await authorizations.remove('auth_1')).toBe(true);
      expect(await authorizations.remove('auth_1')).toBe(false);
      expect(await authorizations.renew('auth_1', withoutRefresh, 3_000)).toBe(false);
      expect(await authorizations.get(alice.id, provider)).toBeNull();
    });
  });
}
