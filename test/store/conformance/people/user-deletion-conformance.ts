/** What every store does with users who are deleted. */
import { describe, expect, it } from 'vitest';
import type { Store } from '../../../../src/control/ports/index.ts';
import { alice, bob, sandboxRecord } from '../../fixtures.ts';
import { snapshotRecord } from '../snapshot-conformance.ts';

const NOW = 1_000_000;

/** @param getStore The suite's open store: Alice, an admin, and Bob, a member, are in it. */
export function userDeletionConformance(name: string, getStore: () => Store): void {
  const store = () => getStore();
  const deletions = () => getStore().userDeletions;
  const begun = {
    ...{ id: bob.id, name: bob.name, email: bob.email },
    ...{ deletedBy: alice.id, heirId: null, begunAt: NOW, endedAt: null },
  };

  describe(`${name}: deletions of users`, () => {
    it('disable the user from their beginning, and nobody enables them again', async () => {
      await store().keys.add(bob.id, 'shv_bob', { name: 'x', createdAt: NOW, expiresAt: null });
      expect(await deletions().begin(bob.id, alice.id, NOW, null)).toEqual(begun);
      expect(await deletions().begin(bob.id, 'user_other', NOW + 5, null)).toEqual(begun);
      expect(await deletions().underWay()).toEqual([begun]);
      expect(await store().users.findUser(bob.id)).toEqual({ ...bob, disabledAt: NOW });
      expect(await store().keys.callerOf('shv_bob', NOW)).toBeNull();
      const enabling = store().users.updateUser(bob.id, () => ({ disabledAt: null }));
      await expect(enabling).rejects.toMatchObject({ code: 'failed_precondition' });
      expect(await deletions().begin('user_none', alice.id, NOW, null)).toBeNull();
    });

    it('keep an heir, whom only another one replaces', async () => {
      const team = { id: 'team_0000000000000001', name: 'red', createdAt: NOW, quota: {} };
      await store().teams.insert(team);
      const begin = (heirId: string | null) => deletions().begin(bob.id, alice.id, NOW, heirId);
      expect(await begin(alice.id)).toEqual({ ...begun, heirId: alice.id });
      expect(await begin(null)).toEqual({ ...begun, heirId: alice.id });
      expect(await begin(team.id)).toEqual({ ...begun, heirId: team.id });
      expect(await deletions().underWay()).toEqual([{ ...begun, heirId: team.id }]);
      expect(await deletions().find(bob.id)).toEqual({ ...begun, heirId: team.id });
    });

    it('take no heir who is gone, disabled or a viewer, and delete nobody who is one', async () => {
      const off = { ...bob, id: 'user_off', email: 'off@example.org', disabledAt: 1 };
      const viewer = { ...bob, id: 'user_eye', email: 'eye@example.org', role: 'viewer' as const };
      const heir = { ...bob, id: 'user_heir', email: 'heir@example.org' };
      for (const user of [off, viewer, heir]) await store().users.insertUser(user);
      for (const id of [off.id, viewer.id, 'user_none', 'team_none'])
        await expect(deletions().begin(bob.id, alice.id, NOW, id)).rejects.toMatchObject({
          code: 'failed_precondition',
        });
      expect(await deletions().underWay()).toEqual([]);
      await deletions().begin(bob.id, alice.id, NOW, heir.id);
      await expect(deletions().begin(heir.id, alice.id, NOW, null)).rejects.toMatchObject({
        code: 'failed_precondition',
      });
      await deletions().finish(bob.id, NOW);
      expect(await deletions().begin(heir.id, alice.id, NOW, null)).toMatchObject({ id: heir.id });
    });

    it('find the names that an heir uses too', async () => {
      const box = (id: string, ownerId: string, name: string) =>
        store().sandboxes.insert(sandboxRecord({ id, ownerId, name }));
      await box('sb_1', bob.id, 'same');
      await box('sb_2', alice.id, 'same');
      await box('sb_3', bob.id, 'own');
      const snap = (id: string, ownerId: string, name: string, state: 'active' | 'error') =>
        store().snapshots.insert(snapshotRecord({ id, ownerId, name, state }));
      await snap('snap_1', bob.id, 'image', 'active');
      await snap('snap_2', alice.id, 'image', 'error');
      await snap('snap_3', bob.id, 'failed', 'error');
      await snap('snap_4', alice.id, 'failed', 'active');
      const taken = (limit: number) => deletions().taken(bob.id, alice.id, limit);
      expect(await taken(9)).toEqual(["sandbox 'same'", "snapshot 'image'"]);
      expect(await taken(1)).toEqual(["sandbox 'same'"]);
    });

    it('take no last enabled admin', async () => {
      await expect(deletions().begin(alice.id, bob.id, NOW, null)).rejects.toMatchObject({
        code: 'failed_precondition',
      });
      expect(await store().users.findUser(alice.id)).toEqual(alice);
      expect(await deletions().underWay()).toEqual([]);
    });

    it('end once the user owns nothing, and keep the name', async () => {
      const box = sandboxRecord({ ownerId: bob.id });
      await store().sandboxes.insert(box);
      await deletions().begin(bob.id, alice.id, NOW, null);
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
