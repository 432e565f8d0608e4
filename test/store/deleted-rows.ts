/** What a real database removes with a user: everything that names them, and nothing of others. */
import { expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../src/control/ports/index.ts';
import { fresh } from '../../src/model/access/sign-ins.ts';
import { alice, bob } from './fixtures.ts';

const NOW = 1_000_000;
const team = { id: 'team_0000000000000001', name: 'red', createdAt: NOW, quota: {} };
const page = { page: 1, pageSize: 100 };
const hashOf = (fill: number) => Buffer.alloc(32, fill);

export function removesWhatNamesAUser(name: string, open: () => Promise<Store>): void {
  it(`${name} removes all rows that name a deleted user, and leaves those of others`, async () => {
    const store = await open();
    onTestFinished(() => store.close());
    for (const user of [alice, bob]) await store.users.insertUser(user);
    const { keys, signIns, identities, teams, webhooks, passwords, idempotency, userDeletions } = store;
    const key = { name: 'x', createdAt: NOW, expiresAt: null };
    for (const { id } of [alice, bob]) {
      await keys.add(id, `shv_${id}`, key);
      const times = { createdAt: NOW, lastUsedAt: NOW, expiresAt: NOW + 9 };
      const signIn = { id: `sgn_${id}`, userId: id, keyId: null, madeBy: null, ...times };
      await signIns.addSignIn(signIn, fresh(hashOf(1), NOW));
      await identities.link({ issuer: 'https://i', subject: id, userId: id, linkedAt: NOW }, null);
      await passwords.setPassword(id, 'hash', NOW);
      await idempotency.put(id, 'key', 'digest', {}, NOW);
      await idempotency.hold(id, 'key', 'replica', null);
    }
    await signIns.addLink(hashOf(7), bob.id, { now: NOW, expiresAt: NOW + 9, by: null });
    await teams.insert(team);
    await teams.setMember(team.id, bob.id, 'member', NOW);
    await keys.add(bob.id, 'shv_team', { ...key, teamId: team.id });
    const webhook = { createdBy: bob.id, url: 'https://example.org', events: ['sandbox.created'] as const };
    const add = (id: string, ownerId: string | null) =>
      webhooks.insert({ ...webhook, id, ownerId, createdAt: NOW }, 'whsec_x');
    await add('wh_bob', bob.id);
    await add('wh_team', team.id);
    await add('wh_everybody', null);
    expect(await userDeletions.owned(bob.id)).toEqual({
      ...{ sandboxes: 0, snapshots: 0, secrets: 0, webhooks: 1, keys: 2, teams: 1 },
    });
    await userDeletions.begin(bob.id, alice.id, NOW, null);
    expect(await userDeletions.finish(bob.id, NOW)).toBe(true);
    expect((await keys.list(null, page)).keys.map(({ userId }) => userId)).toEqual([alice.id]);
    expect((await signIns.listSignIns(null, page)).signIns.map(({ userId }) => userId)).toEqual([alice.id]);
    expect((await identities.listIdentities(null, page)).totalCount).toBe(1);
    expect(await signIns.takeLink(hashOf(7), NOW)).toBeNull();
    expect(await passwords.passwordChangedAt(bob.id)).toBeNull();
    expect(await passwords.passwordChangedAt(alice.id)).toBe(NOW);
    expect(await idempotency.get(bob.id, 'key')).toBeNull();
    expect(await teams.members(team.id)).toEqual([]);
    expect(await teams.find(team.id)).toMatchObject({ name: 'red' });
    expect((await webhooks.list(team.id)).map(({ id, createdBy }) => [id, createdBy])).toEqual([
      ['wh_team', team.id],
    ]);
    expect(await webhooks.list(null)).toEqual([]);
  });
}
