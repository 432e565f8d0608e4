/** What every store does with ways in that an admin makes for another user. */
import { describe, expect, it } from 'vitest';
import type { Store } from '../../../../src/control/ports/index.ts';
import { fresh, type SignIn } from '../../../../src/model/access/sign-ins.ts';
import { alice, bob } from '../../fixtures.ts';

const NOW = 1_000_000;
const MINUTE_MS = 60_000;
const forever = { name: 'laptop', createdAt: NOW, expiresAt: null };
const invites = { id: alice.id, invites: true };
const mayMore = { id: alice.id, invites: false };
const person = { issuer: 'https://id.example.org', subject: 'bob', userId: bob.id, linkedAt: NOW };
const hashOf = (fill: number) => Buffer.alloc(32, fill);
const signIn: SignIn = {
  ...{ id: 'sgn_1', userId: bob.id, keyId: null, madeBy: null },
  ...{ createdAt: NOW, lastUsedAt: NOW, expiresAt: NOW + MINUTE_MS },
};

/** @param store The suite's open store: Alice, an admin, and Bob, a member, are in it. */
export function waysInConformance(name: string, store: () => Store): void {
  const key = (secret: string, by = invites, now = NOW) =>
    store().keys.add(bob.id, secret, { ...forever, createdAt: now, by });
  const link = (fill: number, by = invites, now = NOW) =>
    store().signIns.addLink(hashOf(fill), bob.id, { now, expiresAt: now + MINUTE_MS, by });
  const identity = (subject: string, by = invites) => store().identities.link({ ...person, subject }, by);
  const refuses = async (why: string, now = NOW) => {
    const refused = { code: 'permission_denied', message: expect.stringContaining(why) };
    await expect(key('shv_more', invites, now)).rejects.toMatchObject(refused);
    await expect(link(99, invites, now)).rejects.toMatchObject(refused);
    await expect(identity('mallory')).rejects.toMatchObject(refused);
    expect(await store().keys.callerOf('shv_more', now)).toBeNull();
    expect(await store().signIns.takeLink(hashOf(99), now)).toBeNull();
    expect(await store().identities.findUserOf({ ...person, subject: 'mallory' })).toBeNull();
  };

  describe(`${name}: ways in by a maker who invites`, () => {
    it('are one, whatever it is', async () => {
      const { id } = await key('shv_first');
      await refuses('has a valid key already');
      await store().keys.revoke(id, NOW);
      await link(1);
      await refuses('has a link already');
      await identity('other', mayMore);
      await store().signIns.takeLink(hashOf(1), NOW);
      await refuses('signs in by the identity provider');
    });

    it('are heard by webhooks of the user, with the maker; the user’s own are not', async () => {
      const hook = { url: 'https://receiver.example/', events: ['way_in.made' as const], createdAt: NOW };
      await store().webhooks.insert({ ...hook, id: 'hook_1', ownerId: bob.id, createdBy: bob.id }, 's');
      await store().keys.add(bob.id, 'shv_own', forever);
      await key('shv_made', mayMore);
      await link(1, mayMore);
      await identity('other', mayMore);
      const heard = (await store().webhooks.deliveries('hook_1')).map(({ type, data }) => ({ type, data }));
      const of = (kind: string) => ({
        ...{ type: 'way_in.made', data: { owner_id: bob.id, kind, made_by: alice.id } },
      });
      expect(heard.reverse()).toEqual([of('key'), of('sign_in_link'), of('identity')]);
    });

    it('are another one once the first is over unused', async () => {
      await link(1);
      await refuses('has a link already', NOW + MINUTE_MS - 1);
      await link(2, invites, NOW + MINUTE_MS);
      await refuses('has a link already', NOW + MINUTE_MS);
    });

    it('are one of several at once', async () => {
      const made = await Promise.allSettled([key('shv_1'), key('shv_2'), link(1), link(2), identity('bob')]);
      expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });

    it('are none for who came in with a key, though it was revoked since', async () => {
      const { id } = await key('shv_first');
      await store().keys.callerOf('shv_first', NOW);
      await store().keys.revoke(id, NOW);
      await refuses('has come in already');
    });

    it('are none for who signed in, though nothing of it is left', async () => {
      await store().signIns.addSignIn(signIn, fresh(hashOf(5), NOW));
      await store().signIns.removeSignIn(signIn.id, null);
      await refuses('has come in already');
    });

    it('are none for who came in, by an expired key and after changes of the user', async () => {
      await store().keys.add(bob.id, 'shv_short', { ...forever, expiresAt: NOW + 1 });
      await store().keys.callerOf('shv_short', NOW);
      await store().users.updateUser(bob.id, () => ({ email: 'robert@example.org', disabledAt: NOW }));
      await store().users.updateUser(bob.id, () => ({ disabledAt: null }));
      await refuses('has come in already', NOW + 2);
    });

    it('are not counted for a wrong key, an expired one or a disabled user', async () => {
      await store().keys.add(bob.id, 'shv_short', { ...forever, expiresAt: NOW });
      await store().keys.callerOf('shv_short', NOW);
      await store().keys.callerOf('shv_none', NOW);
      await key('shv_first');
      expect(await store().keys.callerOf('shv_first', NOW)).toMatchObject({ id: bob.id });
    });
  });

  describe(`${name}: ways in by a maker who may make more`, () => {
    it('are as many as wanted, each with its maker', async () => {
      await store().keys.add(bob.id, 'shv_own', forever);
      await store().keys.callerOf('shv_own', NOW);
      expect(await key('shv_made', mayMore)).toMatchObject({ createdBy: alice.id });
      expect(await store().keys.callerOf('shv_made', NOW)).toMatchObject({ keyMadeBy: alice.id });
      expect(await store().keys.callerOf('shv_own', NOW)).not.toHaveProperty('keyMadeBy');
      await link(1, mayMore);
      expect(await store().signIns.takeLink(hashOf(1), NOW)).toEqual({
        userId: bob.id,
        createdBy: alice.id,
      });
    });

    it('name the maker in the sign-ins that come by an identity', async () => {
      await identity('bob', mayMore);
      const { issuer, subject } = person;
      await store().signIns.addSignIn(signIn, fresh(hashOf(5), NOW), { issuer, subject, sid: null });
      expect(await store().signIns.findSignIn(signIn.id, NOW)).toMatchObject({
        signIn: { madeBy: alice.id },
      });
    });
  });
}
