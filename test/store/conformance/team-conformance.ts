/** What every implementation of the teams' port does. */
import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/control/ports/index.ts';
import type { Team } from '../../../src/model/team.ts';
import { alice, bob, sandboxRecord } from '../fixtures.ts';
import { snapshotRecord } from './snapshot-conformance.ts';

const NOW = 5_000;
const everything = { page: 1, pageSize: 100 };
const red: Team = { id: 'team_000000000000000r', name: 'Red', createdAt: 3, quota: { cpu: 4, disk: null } };
const blue: Team = { id: 'team_000000000000000b', name: 'blue', createdAt: 4, quota: {} };

/** @param getStore The suite's open store: Alice, an admin, and Bob, a member, are in it. */
export function teamConformance(name: string, getStore: () => Store): void {
  const teams = () => getStore().teams;
  const both = async () => {
    await teams().insert(red);
    await teams().insert(blue);
  };

  describe(`${name}: teams`, () => {
    it('are found by id, and by name in any case', async () => {
      await both();
      for (const wanted of [red.id, 'Red', 'RED', 'red']) expect(await teams().find(wanted)).toEqual(red);
      for (const wanted of ['', 'Re', 'team_none', alice.id, alice.email, alice.name]) {
        expect(await teams().find(wanted), wanted).toBeNull();
      }
    });

    it('have a name that no other has, whatever its case', async () => {
      await both();
      const taken = { code: 'already_exists' };
      await expect(teams().insert({ ...blue, id: 'team_other', name: 'rED' })).rejects.toMatchObject(taken);
      await expect(teams().update(blue.id, () => ({ name: 'RED' }))).rejects.toMatchObject(taken);
      expect(await teams().update(blue.id, () => ({ name: 'BLUE' }))).toEqual({ ...blue, name: 'BLUE' });
      const user = { ...bob, id: 'user_red', name: 'Red', email: 'red@example.org' };
      await getStore().users.insertUser(user);
    });

    it('are no users', async () => {
      await both();
      const { users } = getStore();
      for (const wanted of [red.id, red.name]) expect(await users.findUser(wanted)).toBeNull();
      expect(await users.listUsers(everything)).toEqual({ users: [alice, bob], totalCount: 2 });
      expect(await users.updateUser(red.id, () => ({ role: 'admin' }))).toBeNull();
    });

    it('change in what the patch names', async () => {
      await both();
      expect(await teams().update(red.id, ({ quota }) => ({ quota: { ...quota, cpu: 8 } }))).toEqual({
        ...red,
        quota: { cpu: 8, disk: null },
      });
      expect(await teams().update('team_none', () => ({ name: 'x' }))).toBeNull();
      expect(await teams().update(bob.id, () => ({ name: 'x' }))).toBeNull();
    });

    it('are listed in the order in which they came: all, or those of a user', async () => {
      await both();
      await teams().setMember(blue.id, bob.id, 'viewer', NOW);
      expect(await teams().list(null, everything)).toEqual({ teams: [red, blue], totalCount: 2 });
      expect(await teams().list(null, { page: 2, pageSize: 1 })).toEqual({ teams: [blue], totalCount: 2 });
      expect(await teams().list(bob.id, everything)).toEqual({ teams: [blue], totalCount: 1 });
      expect(await teams().list(alice.id, everything)).toEqual({ teams: [], totalCount: 0 });
    });
  });

  describe(`${name}: members of a team`, () => {
    it('are shown by the time at which they joined, with their role', async () => {
      await both();
      expect(await teams().setMember(red.id, bob.id, 'member', 7)).toBeNull();
      expect(await teams().setMember(red.id, alice.id, 'viewer', 6)).toBeNull();
      const [a, b] = [
        { userId: alice.id, name: 'Alice', email: 'alice@example.org', role: 'viewer', addedAt: 6 },
        { userId: bob.id, name: 'Bob', email: 'bob@example.org', role: 'member', addedAt: 7 },
      ];
      expect(await teams().members(red.id)).toEqual([a, b]);
      expect(await teams().members(blue.id)).toEqual([]);
      expect(await teams().setMember(red.id, bob.id, 'viewer', 9)).toBe('member');
      expect(await teams().members(red.id)).toEqual([a, { ...b, role: 'viewer' }]);
    });

    it('are in their own teams alone, until they leave', async () => {
      await both();
      await teams().setMember(red.id, bob.id, 'member', NOW);
      const mine = { id: red.id, name: 'Red', role: 'member' };
      for (const wanted of [red.id, 'RED']) expect(await teams().membership(wanted, bob.id)).toEqual(mine);
      for (const wanted of [blue.id, 'blue', '', bob.id, 'none']) {
        expect(await teams().membership(wanted, bob.id), wanted).toBeNull();
      }
      expect(await teams().membership(red.id, alice.id)).toBeNull();
      expect(await teams().removeMember(blue.id, bob.id)).toBe(false);
      expect(await teams().removeMember(red.id, bob.id)).toBe(true);
      expect(await teams().removeMember(red.id, bob.id)).toBe(false);
      expect(await teams().membership(red.id, bob.id)).toBeNull();
    });
  });

  describe(`${name}: what a team owns`, () => {
    it('keeps the team from being removed', async () => {
      await both();
      const { sandboxes, snapshots } = getStore();
      const box = sandboxRecord({ ownerId: red.id });
      await sandboxes.insert(box);
      const refused = { code: 'failed_precondition' };
      await expect(teams().remove(red.id)).rejects.toMatchObject(refused);
      await sandboxes.remove(box.id, box.generation);
      const snapshot = snapshotRecord({ ownerId: red.id });
      await snapshots.insert(snapshot);
      await expect(teams().remove(red.id)).rejects.toMatchObject(refused);
      await snapshots.delete(snapshot.id);
      expect(await teams().remove(red.id)).toBe(true);
      expect(await teams().remove(red.id)).toBe(false);
    });

    it('is found by the team alone', async () => {
      await both();
      const { sandboxes, everybody } = getStore();
      await sandboxes.insert(sandboxRecord({ ownerId: red.id, name: 'box' }));
      await sandboxes.insert(sandboxRecord({ ownerId: bob.id, name: 'box' }));
      expect(await sandboxes.find(red.id, 'box')).toMatchObject({ ownerId: red.id });
      expect(await sandboxes.find(blue.id, 'box')).toBeNull();
      const { sandboxes: all } = await everybody.list({ ownerId: red.id }, everything);
      expect(all.map(({ owner }) => owner)).toEqual([{ id: red.id, name: 'Red', email: null }]);
    });

    it('goes with it: answers, memberships, keys', async () => {
      await both();
      const { keys, idempotency } = getStore();
      await teams().setMember(red.id, bob.id, 'member', NOW);
      const details = { name: 'agent', createdAt: 1, expiresAt: null };
      const bound = await keys.add(bob.id, 'shv_bound', { ...details, teamId: red.id });
      await keys.add(bob.id, 'shv_free', details);
      await idempotency.put(red.id, 'key', 'd', 1, NOW);
      expect(bound.teamId).toBe(red.id);
      expect(await keys.callerOf('shv_bound', NOW)).toMatchObject({ id: bob.id, boundTo: red.id });
      expect(await keys.callerOf('shv_free', NOW)).not.toHaveProperty('boundTo');
      expect(await teams().remove(red.id)).toBe(true);
      expect(await keys.callerOf('shv_bound', NOW)).toBeNull();
      expect(await keys.callerOf('shv_free', NOW)).toMatchObject({ id: bob.id });
      expect(await teams().membership(red.id, bob.id)).toBeNull();
    });
  });
}
