/** What every store does with browsers' sign-ins and one-time links. */
import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/control/ports/index.ts';
import { fresh, type SignIn, type SignInTokens } from '../../../src/model/access/sign-ins.ts';
import { alice, bob } from '../fixtures.ts';

const SIGN_INS_PER_USER = 32;
const LINKS_PER_USER = 8;

const NOW = 1_000_000;
const everything = { page: 1, pageSize: 100 };
const hashOf = (fill: number) => Buffer.alloc(32, fill);

function signIn(id: string, more: Partial<SignIn> = {}): SignIn {
  const times = { createdAt: NOW, lastUsedAt: NOW, expiresAt: NOW + 1_000 };
  return { id, userId: alice.id, keyId: null, madeBy: null, ...times, ...more };
}

export function signInConformance(name: string, store: () => Store): void {
  const signIns = () => store().signIns;
  const add = (id: string, more: Partial<SignIn> = {}, tokens = fresh(hashOf(1), NOW)) =>
    signIns().addSignIn(signIn(id, more), tokens);
  const addLink = (hash: Buffer, userId: string, expiresAt: number) =>
    signIns().addLink(hash, userId, { now: NOW, expiresAt, by: null });
  const take = async (fill: number, now: number) =>
    (await signIns().takeLink(hashOf(fill), now))?.userId ?? null;

  describe(`${name}: sign-ins`, () => {
    it('are found with their user, as they were added', async () => {
      const tokens: SignInTokens = {
        ...{ hash: hashOf(1), since: NOW, nextHash: hashOf(2), nextAt: NOW + 1 },
        ...{ previousHash: hashOf(3), previousUntil: NOW + 2 },
      };
      expect(await add('sgn_1', {}, tokens)).toEqual([]);
      const { id, name, email, role } = alice;
      expect(await signIns().findSignIn('sgn_1', NOW)).toEqual({
        signIn: signIn('sgn_1'),
        tokens,
        user: { id, name, email, role },
        scopes: null,
      });
      expect(await signIns().findSignIn('sgn_2', NOW)).toBeNull();
    });

    it('are not found once their user is disabled', async () => {
      await add('sgn_1', { userId: bob.id });
      await store().users.updateUser(bob.id, () => ({ disabledAt: NOW }));
      expect(await signIns().findSignIn('sgn_1', NOW)).toBeNull();
    });

    it('have the scopes of their key, and end with it', async () => {
      const details = { name: 'narrow', createdAt: NOW, expiresAt: NOW + 10 };
      const key = await store().keys.add(alice.id, 'one', { ...details, scopes: ['account'] });
      await add('sgn_1', { keyId: key.id });
      expect(await signIns().findSignIn('sgn_1', NOW + 9)).toMatchObject({
        signIn: { keyId: key.id },
        scopes: ['account'],
      });
      expect(await signIns().findSignIn('sgn_1', NOW + 10)).toBeNull();
      await store().keys.revoke(key.id, NOW);
      expect(await signIns().findSignIn('sgn_1', NOW)).toBeNull();
      await add('sgn_2');
      expect(await signIns().removeSignInsOfKey(key.id)).toEqual(['sgn_1']);
      expect(await signIns().removeSignInsOfKey(key.id)).toEqual([]);
      expect((await signIns().listSignIns(null, everything)).signIns).toEqual([signIn('sgn_2')]);
    });

    it('have their tokens replaced once, of two that replace the same', async () => {
      const before = fresh(hashOf(1), NOW);
      await add('sgn_1', {}, before);
      const offered = { ...before, nextHash: hashOf(2), nextAt: NOW };
      expect(await signIns().replaceTokens('sgn_1', before, offered)).toBe(true);
      expect(await signIns().replaceTokens('sgn_1', before, { ...before, nextHash: hashOf(3) })).toBe(false);
      const confirmed = { ...fresh(hashOf(2), NOW + 1), previousHash: hashOf(1), previousUntil: NOW + 2 };
      expect(await signIns().replaceTokens('sgn_1', offered, confirmed)).toBe(true);
      expect((await signIns().findSignIn('sgn_1', NOW))?.tokens).toEqual(confirmed);
      expect(await signIns().replaceTokens('sgn_2', before, offered)).toBe(false);
    });

    it('are listed by their last use, of one user or of all', async () => {
      await add('sgn_1');
      await add('sgn_2', { lastUsedAt: NOW + 5 });
      await add('sgn_3', { userId: bob.id, lastUsedAt: NOW + 1 });
      const ids = async (user: string | null, page = everything) =>
        (await signIns().listSignIns(user, page)).signIns.map(({ id }) => id);
      expect(await ids(null)).toEqual(['sgn_2', 'sgn_3', 'sgn_1']);
      expect(await ids(alice.id)).toEqual(['sgn_2', 'sgn_1']);
      await signIns().touchSignIns(new Map([['sgn_1', NOW + 9], ['sgn_2', NOW]])); // biome-ignore format: pairs
      expect(await ids(alice.id)).toEqual(['sgn_1', 'sgn_2']);
      expect(await ids(alice.id, { page: 2, pageSize: 1 })).toEqual(['sgn_2']);
      expect((await signIns().listSignIns(alice.id, { page: 1, pageSize: 1 })).totalCount).toBe(2);
    });

    it('give way to a newer one above the bound of a user: the one used longest ago', async () => {
      await add('sgn_old', { lastUsedAt: NOW - 1 });
      await add('sgn_other', { userId: bob.id, lastUsedAt: NOW - 2 });
      for (let count = 1; count < SIGN_INS_PER_USER; count++) expect(await add(`sgn_${count}`)).toEqual([]);
      expect(await add('sgn_new')).toEqual(['sgn_old']);
      expect(await signIns().findSignIn('sgn_old', NOW)).toBeNull();
      expect(await signIns().findSignIn('sgn_other', NOW)).not.toBeNull();
    });

    it('are removed as those of their user alone, or of anybody, disabled or not', async () => {
      await add('sgn_1', { userId: bob.id });
      await store().users.updateUser(bob.id, () => ({ disabledAt: NOW }));
      expect(await signIns().removeSignIn('sgn_1', alice.id)).toBeNull();
      expect(await signIns().removeSignIn('sgn_1', null)).toEqual(signIn('sgn_1', { userId: bob.id }));
    });

    it('are removed, and swept when they are over or idle', async () => {
      await add('sgn_1');
      expect(await signIns().removeSignIn('sgn_1', alice.id)).toEqual(signIn('sgn_1'));
      expect(await signIns().removeSignIn('sgn_1', alice.id)).toBeNull();
      await add('sgn_over', { expiresAt: NOW });
      await add('sgn_idle', { lastUsedAt: NOW - 100 });
      await add('sgn_live', { lastUsedAt: NOW - 99 });
      await signIns().pruneSignIns(NOW, NOW - 100);
      expect((await signIns().listSignIns(null, everything)).signIns.map(({ id }) => id)).toEqual([
        'sgn_live',
      ]);
    });
  });

  describe(`${name}: one-time links`, () => {
    it('open once, until they are over', async () => {
      await addLink(hashOf(1), alice.id, NOW + 10);
      await addLink(hashOf(2), bob.id, NOW + 10);
      expect(await take(3, NOW)).toBeNull();
      expect(await take(1, NOW)).toBe(alice.id);
      expect(await take(1, NOW)).toBeNull();
      expect(await take(2, NOW + 10)).toBeNull();
    });

    it('open once of two at the same time', async () => {
      await addLink(hashOf(1), alice.id, NOW + 10);
      const taken = await Promise.all([1, 2, 3].map(() => take(1, NOW)));
      expect(taken.filter((user) => user !== null)).toEqual([alice.id]);
    });

    it('give way to newer ones above the bound of a user', async () => {
      await addLink(hashOf(100), bob.id, NOW + 1);
      for (let number = 1; number <= LINKS_PER_USER + 1; number++)
        await addLink(hashOf(number), alice.id, NOW + number);
      expect(await take(1, NOW)).toBeNull();
      expect(await take(2, NOW)).toBe(alice.id);
      expect(await take(100, NOW)).toBe(bob.id);
    });

    it('are swept when they are over', async () => {
      await addLink(hashOf(1), alice.id, NOW);
      await signIns().pruneSignIns(NOW, 0);
      expect(await take(1, NOW - 1)).toBeNull();
    });
  });
}
