/** What every store does with identities, the sign-ins that came from them, and secrets that work once. */
import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/control/ports/index.ts';
import { fresh, type SignIn } from '../../../src/model/access/sign-ins.ts';
import { alice, bob } from '../fixtures.ts';

const NOW = 1_000_000;
const everything = { page: 1, pageSize: 100 };
const ISSUER = 'https://login.example.org';
const one = { issuer: ISSUER, subject: 'one' };
const two = { issuer: ISSUER, subject: 'two' };
const carol = { ...alice, id: 'user_carol', email: 'carol@example.org', role: 'member' as const };

export function identityConformance(name: string, store: () => Store): void {
  const identities = () => store().identities;
  const linked = (identity: typeof one, userId: string, linkedAt = NOW) => ({
    ...identity,
    userId,
    linkedAt,
    linkedBy: null,
  });

  const addSignIn = (id: string, subject: string, sid: string | null, userId = alice.id) => {
    const times = { createdAt: NOW, lastUsedAt: NOW, expiresAt: NOW + 1_000 };
    const signIn: SignIn = { id, userId, keyId: null, madeBy: null, ...times };
    return store().signIns.addSignIn(signIn, fresh(Buffer.alloc(32, 1), NOW), {
      issuer: ISSUER,
      subject,
      sid,
    });
  };
  const left = async () => (await store().signIns.listSignIns(null, everything)).signIns.map(({ id }) => id);

  describe(`${name}: identities`, () => {
    it('enrol a new user once, and find the user again', async () => {
      expect(await identities().findUserOf(one)).toBeNull();
      expect(await identities().enrol(carol, one)).toEqual(carol);
      expect(await identities().findUserOf(one)).toEqual(carol);
      const late = { ...carol, id: 'user_late', email: 'late@example.org' };
      expect(await identities().enrol(late, one)).toEqual(carol);
      expect(await store().users.findUser('user_late')).toBeNull();
      expect(
        await identities().findUserOf({ issuer: 'https://other.example.org', subject: 'one' }),
      ).toBeNull();
    });

    it('enrol one user for two who come at once', async () => {
      const other = { ...carol, id: 'user_other', email: 'other@example.org' };
      const both = await Promise.all([identities().enrol(carol, one), identities().enrol(other, one)]);
      expect(both[0]?.id).toBe(both[1]?.id);
      expect((await identities().listIdentities(null, everything)).totalCount).toBe(1);
    });

    it('enrol nobody with the email of a user, in any case', async () => {
      const same = { ...carol, email: alice.email.toUpperCase() };
      await expect(identities().enrol(same, one)).rejects.toMatchObject({ code: 'already_exists' });
      expect(await identities().findUserOf(one)).toBeNull();
      expect(await store().users.findUser(carol.id)).toBeNull();
    });

    it('are linked with one user, at most eight of them, newest first', async () => {
      await identities().link(linked(one, bob.id), null);
      await identities().link(linked(one, bob.id, NOW + 5), null);
      await expect(identities().link(linked(one, alice.id), null)).rejects.toMatchObject({
        code: 'already_exists',
      });
      await identities().link(linked(two, alice.id, NOW + 1), null);
      expect(await identities().listIdentities(null, everything)).toEqual({
        identities: [linked(two, alice.id, NOW + 1), linked(one, bob.id)],
        totalCount: 2,
      });
      expect(await identities().listIdentities(bob.id, everything)).toEqual({
        identities: [linked(one, bob.id)],
        totalCount: 1,
      });
      for (let count = 1; count < 8; count++)
        await identities().link(linked({ issuer: ISSUER, subject: `more ${count}` }, bob.id), null);
      const ninth = identities().link(linked({ issuer: ISSUER, subject: 'ninth' }, bob.id), null);
      await expect(ninth).rejects.toMatchObject({ code: 'resource_exhausted' });
    });

    it('are unlinked, and say from whom', async () => {
      await identities().link(linked(one, bob.id), null);
      expect(await identities().unlink(one)).toEqual(linked(one, bob.id));
      expect(await identities().unlink(one)).toBeNull();
      expect(await identities().findUserOf(one)).toBeNull();
    });
  });

  describe(`${name}: sign-ins from a provider`, () => {
    it('end by session, or all of a subject', async () => {
      await addSignIn('sgn_1', 'one', 'laptop');
      await addSignIn('sgn_2', 'one', 'phone');
      await addSignIn('sgn_3', 'two', 'laptop of two', bob.id);
      expect(await identities().removeSignInsOf({ issuer: ISSUER, subject: null, sid: 'phone' })).toEqual([
        'sgn_2',
      ]);
      expect(await identities().removeSignInsOf({ issuer: ISSUER, subject: null, sid: 'phone' })).toEqual([]);
      expect(await identities().removeSignInsOf({ issuer: ISSUER, subject: 'two', sid: 'laptop' })).toEqual(
        [],
      );
      expect(await identities().removeSignInsOf({ issuer: ISSUER, subject: 'one', sid: null })).toEqual([
        'sgn_1',
      ]);
      expect(await left()).toEqual(['sgn_3']);
    });

    it('end with any session of their subject when their own has no name', async () => {
      await addSignIn('sgn_1', 'one', null);
      expect(await identities().removeSignInsOf({ issuer: ISSUER, subject: null, sid: 'phone' })).toEqual([]);
      expect(await identities().removeSignInsOf({ issuer: ISSUER, subject: 'one', sid: 'phone' })).toEqual([
        'sgn_1',
      ]);
    });

    it('end once for each proof: a second use changes nothing', async () => {
      await addSignIn('sgn_1', 'one', null);
      const proof = { hash: Buffer.alloc(32, 6), expiresAt: NOW + 10, now: NOW };
      const ended = { issuer: ISSUER, subject: 'one', sid: null };
      expect(await identities().removeSignInsOf(ended, proof)).toEqual(['sgn_1']);
      await addSignIn('sgn_2', 'one', null);
      expect(await identities().removeSignInsOf(ended, proof)).toBeNull();
      expect(await identities().useOnce(proof)).toBe(false);
      expect(await left()).toEqual(['sgn_2']);
    });

    it('do not end by another issuer, nor by nothing at all', async () => {
      await addSignIn('sgn_1', 'one', 'laptop');
      const other = 'https://other.example.org';
      expect(await identities().removeSignInsOf({ issuer: other, subject: 'one', sid: null })).toEqual([]);
      expect(await identities().removeSignInsOf({ issuer: ISSUER, subject: null, sid: null })).toEqual([]);
      expect(await left()).toEqual(['sgn_1']);
    });
  });

  describe(`${name}: secrets that work once`, () => {
    it('are refused until they expire', async () => {
      const hash = Buffer.alloc(32, 7);
      expect(await identities().useOnce({ hash, expiresAt: NOW + 10, now: NOW })).toBe(true);
      expect(await identities().useOnce({ hash, expiresAt: NOW + 10, now: NOW + 9 })).toBe(false);
      expect(
        await identities().useOnce({ hash: Buffer.alloc(32, 8), expiresAt: NOW + 10, now: NOW + 9 }),
      ).toBe(true);
      expect(await identities().useOnce({ hash, expiresAt: NOW + 20, now: NOW + 10 })).toBe(true);
    });

    it('work for one of those who use it at once', async () => {
      const uses = Array.from({ length: 5 }, () =>
        identities().useOnce({ hash: Buffer.alloc(32, 9), expiresAt: NOW + 10, now: NOW }),
      );
      expect((await Promise.all(uses)).filter(Boolean)).toEqual([true]);
    });
  });
}
