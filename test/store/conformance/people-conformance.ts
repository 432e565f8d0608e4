/** What every implementation of the users' and keys' ports does. */
import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/control/ports/index.ts';
import { alice, bob } from '../fixtures.ts';

const KEYS_KEPT_PER_USER = 1_000;

const forever = { name: 'laptop', createdAt: 1_000, expiresAt: null };
const NOW = 5_000;
const everything = { page: 1, pageSize: 100 };

/** @param getStore The suite's open store: Alice, an admin, and Bob, a member, are in it. */
export function peopleConformance(name: string, getStore: () => Store): void {
  const users = () => getStore().users;
  const keys = () => getStore().keys;

  describe(`${name}: users`, () => {
    it('gives the first user that there was', async () => {
      expect(await users().firstUser()).toEqual(alice);
    });

    it('refuses a user that is there already, and an email that is taken, whatever its case', async () => {
      await expect(users().insertUser(alice)).rejects.toMatchObject({ code: 'already_exists' });
      const twin = { ...bob, id: 'user_twin', email: 'ALICE@example.org' };
      await expect(users().insertUser(twin)).rejects.toMatchObject({ code: 'already_exists' });
      await expect(users().updateUser(bob.id, () => ({ email: 'Alice@Example.org' }))).rejects.toMatchObject({
        code: 'already_exists',
      });
      expect(await users().findUser('alice@EXAMPLE.org')).toEqual(alice);
    });

    it('finds by id and by email', async () => {
      for (const wanted of [bob.id, bob.email]) expect(await users().findUser(wanted)).toEqual(bob);
      for (const wanted of ['', 'user_none', bob.name, `${bob.id} `, bob.id.toUpperCase()]) {
        expect(await users().findUser(wanted), wanted).toBeNull();
      }
    });

    it('lists in the order in which they came, by pages', async () => {
      expect(await users().listUsers(everything)).toEqual({ users: [alice, bob], totalCount: 2 });
      expect(await users().listUsers({ page: 2, pageSize: 1 })).toEqual({ users: [bob], totalCount: 2 });
      expect(await users().listUsers({ page: 3, pageSize: 1 })).toEqual({ users: [], totalCount: 2 });
    });

    it('changes what the patch names', async () => {
      const quota = { cpu: 4, disk: null };
      expect(await users().updateUser(bob.id, () => ({ name: 'Robert', quota }))).toEqual({
        ...bob,
        name: 'Robert',
        quota,
      });
      expect(await users().updateUser('user_none', () => ({ name: 'Nobody' }))).toBeNull();
      expect(await users().findUser(bob.id)).toEqual({ ...bob, name: 'Robert', quota });
    });

    it.each(['admin', 'member', 'viewer'] as const)('have the role of %s', async (role) => {
      await users().updateUser(bob.id, () => ({ role }));
      expect(await users().findUser(bob.id)).toEqual({ ...bob, role });
      await keys().add(bob.id, 'shv_role', forever);
      expect(await keys().callerOf('shv_role', NOW)).toMatchObject({ id: bob.id, role });
    });

    it.each([{ role: 'member' as const }, { role: 'viewer' as const }, { disabledAt: NOW }])(
      'keeps the last enabled admin from %j',
      async (patch) => {
        const refused = expect(users().updateUser(alice.id, () => patch)).rejects;
        await refused.toMatchObject({ code: 'failed_precondition' });
        expect(await users().findUser(alice.id)).toEqual(alice);
        await users().updateUser(bob.id, () => ({ role: 'admin' }));
        expect(await users().updateUser(alice.id, () => patch)).toEqual({ ...alice, ...patch });
        await expect(users().updateUser(bob.id, () => patch)).rejects.toMatchObject({
          code: 'failed_precondition',
        });
      },
    );
  });

  describe(`${name}: keys`, () => {
    it('[WIRE-AUTH-04] knows the user of a key, and of that key exactly', async () => {
      const { id } = await keys().add(alice.id, 'shv_alice', forever);
      await keys().add(bob.id, 'shv_bob', { ...forever, expiresAt: NOW + 1 });
      const { name, email, role } = alice;
      const caller = { id: alice.id, name, email, role, keyId: id, keyExpiresAt: null, scopes: null };
      expect(await keys().callerOf('shv_alice', NOW)).toEqual(caller);
      expect(await keys().callerOf('shv_bob', NOW)).toMatchObject({ id: bob.id, role: 'member' });
      for (const wrong of ['', 'shv_alic', 'shv_alice ', 'SHV_ALICE', 'shv_alice\0', id]) {
        expect(await keys().callerOf(wrong, NOW), wrong).toBeNull();
      }
    });

    it('keeps the scopes of a key, and none for all', async () => {
      const scopes = ['sandboxes:read', 'documents:read'] as const;
      const narrow = await keys().add(alice.id, 'narrow', { ...forever, scopes });
      const wide = await keys().add(alice.id, 'wide', forever);
      expect(narrow.scopes).toEqual(scopes);
      expect(wide.scopes).toBeNull();
      expect((await keys().callerOf('narrow', NOW))?.scopes).toEqual(scopes);
      expect((await keys().find(narrow.id))?.scopes).toEqual(scopes);
      expect((await keys().list(alice.id, everything)).keys.map((key) => key.scopes)).toEqual([null, scopes]);
    });

    it('[WIRE-AUTH-04] knows nobody by a key that has expired, was revoked, or whose user is disabled', async () => {
      await keys().add(bob.id, 'short', { ...forever, expiresAt: NOW });
      expect(await keys().callerOf('short', NOW - 1)).toMatchObject({ keyExpiresAt: NOW });
      expect(await keys().callerOf('short', NOW)).toBeNull();

      const { id } = await keys().add(bob.id, 'revoked', forever);
      expect(await keys().revoke(id, NOW)).toMatchObject({ id, revokedAt: NOW });
      expect(await keys().callerOf('revoked', NOW)).toBeNull();
      expect(await keys().revoke(id, NOW + 1)).toMatchObject({ revokedAt: NOW });
      expect(await keys().add(bob.id, 'revoked', forever)).toMatchObject({ revokedAt: NOW });
      expect(await keys().callerOf('revoked', NOW)).toBeNull();

      await keys().add(bob.id, 'good', forever);
      await users().updateUser(bob.id, () => ({ disabledAt: NOW }));
      expect(await keys().callerOf('good', NOW)).toBeNull();
      await users().updateUser(bob.id, () => ({ disabledAt: null }));
      expect(await keys().callerOf('good', NOW)).toMatchObject({ id: bob.id });
    });

    it('takes several keys of one user, and one key twice', async () => {
      const one = await keys().add(alice.id, 'one', forever);
      const two = await keys().add(alice.id, 'two', { ...forever, name: 'desk', createdAt: 2_000 });
      expect(await keys().add(alice.id, 'one', { ...forever, name: 'other' })).toEqual(one);
      expect(one).toMatchObject({ userId: alice.id, ...forever, lastUsedAt: null, revokedAt: null });
      expect(one.id).not.toBe(two.id);
      expect(await keys().list(alice.id, everything)).toEqual({ keys: [two, one], totalCount: 2 });
      expect(await keys().list(bob.id, everything)).toEqual({ keys: [], totalCount: 0 });
      expect(await keys().list(null, { page: 2, pageSize: 1 })).toEqual({ keys: [one], totalCount: 2 });
      expect(await keys().find(two.id)).toEqual(two);
      for (const wrong of ['', 'key_0000000000000000', 'one']) {
        expect(await keys().find(wrong), wrong).toBeNull();
        expect(await keys().revoke(wrong, NOW), wrong).toBeNull();
      }
    });

    it('never gives a key of one user to another, nor to none', async () => {
      await keys().add(alice.id, 'one', forever);
      await expect(keys().add(bob.id, 'one', forever)).rejects.toMatchObject({ code: 'already_exists' });
      await expect(keys().add('user_none', 'two', forever)).rejects.toThrow();
      expect(await keys().callerOf('one', NOW)).toMatchObject({ id: alice.id });
      expect(await keys().callerOf('two', NOW)).toBeNull();
    });

    it('shows when a key was used last', async () => {
      const { id } = await keys().add(alice.id, 'one', forever);
      await keys().touch(new Map([[id, NOW]]));
      await keys().touch(new Map([[id, NOW - 1], ['key_0000000000000000', NOW]])); // biome-ignore format: pairs
      expect(await keys().find(id)).toMatchObject({ id, lastUsedAt: NOW });
    });

    it('counts those that still open something', async () => {
      const { id } = await keys().add(alice.id, 'one', forever);
      await keys().add(alice.id, 'two', { ...forever, expiresAt: NOW });
      await keys().add(bob.id, 'three', forever);
      expect(await keys().countLive(alice.id, NOW - 1)).toBe(2);
      expect(await keys().countLive(alice.id, NOW)).toBe(1);
      await keys().revoke(id, NOW);
      expect(await keys().countLive(alice.id, NOW)).toBe(0);
    });

    it('forgets the oldest of very many dead keys, and no live one', async () => {
      await keys().add(alice.id, 'live', { ...forever, createdAt: 1 });
      const dead = KEYS_KEPT_PER_USER + 2;
      const add = (number: number) =>
        keys().add(alice.id, `dead ${number}`, { name: `${number}`, createdAt: 1, expiresAt: 2 + number });
      await Promise.all(Array.from({ length: dead }, (_, number) => add(number)));
      await keys().add(alice.id, 'last', { ...forever, createdAt: NOW });
      const { keys: oldest, totalCount } = await keys().list(alice.id, { page: 1, pageSize: dead + 2 });
      expect(totalCount).toBe(KEYS_KEPT_PER_USER + 2);
      const names = oldest.map(({ name }) => name);
      expect(names).not.toContain('0');
      expect(names).not.toContain('1');
      expect(names).toContain('2');
      expect(await keys().callerOf('live', NOW)).not.toBeNull();
    });
  });
}
