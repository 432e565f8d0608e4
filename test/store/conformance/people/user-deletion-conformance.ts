/** What every store does with users who are deleted. */
import { describe, expect, it } from 'vitest';
import type { Store } from '../../../../src/control/ports/index.ts';
import { alice, bob, sandboxRecord } from '../../fixtures.ts';

const NOW = 1_000_000;

/** @param getStore The suite's open store: Alice, an admin, and Bob, a member, are in it. */
export function userDeletionConformance(name: string, getStore: () => Store): void {
  const store = () => getStore();
  const deletions = () => getStore().userDeletions;
  const begun = {
    ...{ id: bob.id, name: bob.name, email: bob.email },
    ...{ deletedBy: alice.id, begunAt: NOW, endedAt: null },
  };

  describe(`${name}: deletions of users`, () => {
    it('disable the user from their beginning, and nobody enables them again', async () => {
      await store().keys.add(bob.id, 'shv_bob', { name: 'x', createdAt: NOW, expiresAt: null });
      expect(await deletions().begin(bob.id, alice.id, NOW)).toEqual(begun);
      expect(await deletions().begin(bob.id, 'user_other', NOW + 5)).toEqual(begun);
      expect(await deletions().underWay()).toEqual([begun]);
      expect(await store().users.findUser(bob.id)).toEqual({ ...bob, disabledAt: NOW });
      expect(await store().keys.callerOf('shv_bob', NOW)).toBeNull();
      const enabling = store().users.updateUser(bob.id, () => ({ disabledAt: null }));
      await expect(enabling).rejects.toMatchObject({ code: 'failed_precondition' });
      expect(await deletions().begin('user_none', alice.id, NOW)).toBeNull();
    });

    it('take no last enabled admin', async () => {
      await expect(deletions().begin(alice.id, bob.id, NOW)).rejects.toMatchObject({
        code: 'failed_precondition',
      });
      expect(await store().users.findUser(alice.id)).toEqual(alice);
      expect(await deletions().underWay()).toEqual([]);
    });

    it('end once the user owns nothing, and keep the name', async () => {
      const box = sandboxRecord({ ownerId: bob.id });
      await store().sandboxes.insert(box);
      await deletions().begin(bob.id, alice.id, NOW);
      expect(await deletions().finish(bob.id, NOW + 1)).toBe(false);
      expect(await store().users.findUser(bob.id)).not.toBeNull();
      await store().sandboxes.remove(box.id, box.generation);
      expect(await deletions().finish(bob.id, NOW + 1)).toBe(true);
      expect(await deletions().finish(bob.id, NOW + 2)).toBe(true);
      expect(await store().users.findUser(bob.id)).toBeNull();
      expect(await deletions().underWay()).toEqual([]);
      for (const wanted of [bob.id, bob.email.toUpperCase()])
        expect(await deletions().find(wanted)).toEqual({ ...begun, endedAt: NOW + 1 });
      expect(await deletions().find('user_none')).toBeNull();
      await store().users.insertUser({ ...bob, id: 'user_again' });
      expect(await store().users.findUser(bob.email)).toMatchObject({ id: 'user_again' });
    });
  });
}
