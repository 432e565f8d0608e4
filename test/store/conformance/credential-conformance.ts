/** What every store does with passkeys and passwords. */
import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/control/ports/index.ts';
import type { Passkey } from '../../../src/model/access/passkeys.ts';
import { fresh } from '../../../src/model/access/sign-ins.ts';
import { alice, bob } from '../fixtures.ts';

const NOW = 1_000_000;

function passkey(id: string, more: Partial<Passkey> = {}): Passkey {
  return {
    ...{ id, userId: alice.id, name: 'Laptop', credentialId: `credential-${id}`, counter: 0 },
    ...{ publicKey: Buffer.from([1, 0, 255]), transports: ['internal', 'hybrid'], rpId: 'box.example.org' },
    ...{ createdAt: NOW, lastUsedAt: null, ...more },
  };
}

export function credentialConformance(name: string, store: () => Store): void {
  const passkeys = () => store().passkeys;
  const passwords = () => store().passwords;

  describe(`${name}: owners of passwords`, () => {
    it('are people: a team of the same name is none', async () => {
      await passwords().setPassword(alice.id, 'hash', NOW);
      const team = { id: 'team_0000000000000001', name: alice.name, createdAt: NOW, quota: {} };
      await store().teams.insert(team);
      const owners = await passwords().findPasswordOwners(alice.name);
      expect(owners.map(({ user }) => user.id)).toEqual([alice.id]);
    });
  });

  describe(`${name}: keys that sign a browser in`, () => {
    it('are those bound to no team', async () => {
      const team = { id: 'team_0000000000000001', name: 'red', createdAt: NOW, quota: {} };
      await store().teams.insert(team);
      const details = { name: 'k', createdAt: NOW, expiresAt: null };
      await store().keys.add(alice.id, 'bound', { ...details, teamId: team.id });
      expect(await store().keys.countOpening(alice.id, NOW)).toBe(0);
      expect(await store().keys.countLive(alice.id, NOW)).toBe(1);
      await store().keys.add(alice.id, 'own', details);
      expect(await store().keys.countOpening(alice.id, NOW)).toBe(1);
    });
  });

  describe(`${name}: passkeys`, () => {
    it('are found as they were added, by id, by credential and by user', async () => {
      await passkeys().addPasskey(passkey('p_2', { createdAt: NOW + 1 }));
      await passkeys().addPasskey(passkey('p_1'));
      await passkeys().addPasskey(passkey('p_3', { userId: bob.id }));
      expect(await passkeys().findPasskey('p_1')).toEqual(passkey('p_1'));
      expect(await passkeys().findCredential('credential-p_3')).toEqual(passkey('p_3', { userId: bob.id }));
      expect((await passkeys().listPasskeys(alice.id)).map(({ id }) => id)).toEqual(['p_1', 'p_2']);
      expect(await passkeys().findPasskey('p_9')).toBeNull();
      expect(await passkeys().findCredential('none')).toBeNull();
    });

    it('have one owner: a known credential is added no second time', async () => {
      await passkeys().addPasskey(passkey('p_1'));
      const again = passkeys().addPasskey(passkey('p_2', { userId: bob.id, credentialId: 'credential-p_1' }));
      await expect(again).rejects.toMatchObject({ code: 'already_exists' });
    });

    it('are twenty at most of one user', async () => {
      for (let count = 0; count < 20; count++) await passkeys().addPasskey(passkey(`p_${count}`));
      const more = passkeys().addPasskey(passkey('p_more'));
      await expect(more).rejects.toMatchObject({ code: 'resource_exhausted' });
      await passkeys().addPasskey(passkey('p_other', { userId: bob.id }));
    });

    it('count on, or never count: a count that stands or goes back is a copy', async () => {
      await passkeys().addPasskey(passkey('p_0'));
      expect(await passkeys().usePasskey('p_0', 0, NOW + 1)).toBe(true);
      expect(await passkeys().usePasskey('p_0', 7, NOW + 2)).toBe(true);
      expect(await passkeys().usePasskey('p_0', 7, NOW + 3)).toBe(false);
      expect(await passkeys().usePasskey('p_0', 6, NOW + 3)).toBe(false);
      expect(await passkeys().usePasskey('p_0', 0, NOW + 3)).toBe(false);
      expect(await passkeys().findPasskey('p_0')).toMatchObject({ counter: 7, lastUsedAt: NOW + 2 });
      expect(await passkeys().usePasskey('p_9', 1, NOW)).toBe(false);
    });

    it('are renamed and removed', async () => {
      await passkeys().addPasskey(passkey('p_1'));
      expect(await passkeys().renamePasskey('p_1', 'Phone')).toEqual(passkey('p_1', { name: 'Phone' }));
      expect(await passkeys().removePasskey('p_1')).toBe(true);
      expect(await passkeys().removePasskey('p_1')).toBe(false);
      expect(await passkeys().renamePasskey('p_1', 'x')).toBeNull();
    });

    it('have a challenge used once, of many at the same time', async () => {
      const use = () => passkeys().useChallenge(Buffer.alloc(32, 1), NOW + 10, NOW);
      const used = await Promise.all([use(), use(), use()]);
      expect(used.filter((isFirst) => isFirst)).toHaveLength(1);
      expect(await passkeys().useChallenge(Buffer.alloc(32, 2), NOW + 10, NOW)).toBe(true);
    });
  });

  describe(`${name}: passwords`, () => {
    it('are found by email in any case, and by name', async () => {
      await passwords().setPassword(alice.id, 'hash', NOW);
      const found = await passwords().findPasswordOwners('ALICE@example.org');
      const { id, name, email, role } = alice;
      expect(found).toEqual([
        { user: { id, name, email, role, disabledAt: null }, hash: 'hash', networks: [], hasPasskey: false },
      ]);
      expect(await passwords().findPasswordOwners('Alice')).toEqual(found);
      expect(await passwords().findPasswordOwners('alice')).toEqual([]);
      expect(await passwords().findPasswordOwners('Bob')).toMatchObject([{ hash: null, networks: [] }]);
    });

    it('are those of all who have the name, the one of the email first', async () => {
      await store().users.insertUser({ ...bob, id: 'user_c', name: 'Bob', email: 'c@example.org' });
      await store().users.insertUser({ ...bob, id: 'user_d', name: 'Carl', email: 'Bob@x' });
      const ids = async (who: string) =>
        (await passwords().findPasswordOwners(who)).map(({ user }) => user.id);
      expect(await ids('Bob')).toEqual([bob.id, 'user_c']);
      await store().users.updateUser('user_c', () => ({ name: 'bob@x' }));
      expect(await ids('bob@x')).toEqual(['user_d', 'user_c']);
    });

    it('are found beside the passkeys and the end of their owner', async () => {
      await passkeys().addPasskey(passkey('p_1', { userId: bob.id }));
      await store().users.updateUser(bob.id, () => ({ disabledAt: NOW }));
      expect(await passwords().findPasswordOwners('Bob')).toMatchObject([
        { hasPasskey: true, user: { disabledAt: NOW } },
      ]);
    });

    it('are replaced and removed', async () => {
      expect(await passwords().passwordChangedAt(alice.id)).toBeNull();
      await passwords().setPassword(alice.id, 'one', NOW);
      await passwords().noteNetwork(alice.id, '192.0.2');
      await passwords().setPassword(alice.id, 'two', NOW + 1);
      expect(await passwords().passwordChangedAt(alice.id)).toBe(NOW + 1);
      expect(await passwords().findPasswordOwners('Alice')).toMatchObject([
        { hash: 'two', networks: ['192.0.2'] },
      ]);
      expect(await passwords().removePassword(alice.id)).toBe(true);
      expect(await passwords().removePassword(alice.id)).toBe(false);
    });

    it('remember the sixteen networks that were used last', async () => {
      await passwords().noteNetwork(alice.id, 'nobody');
      await passwords().setPassword(alice.id, 'hash', NOW);
      for (let count = 1; count <= 17; count++) await passwords().noteNetwork(alice.id, `net-${count}`);
      await passwords().noteNetwork(alice.id, 'net-5');
      const [owner] = await passwords().findPasswordOwners('Alice');
      expect(owner?.networks).toHaveLength(16);
      expect(owner?.networks.slice(0, 2)).toEqual(['net-5', 'net-17']);
      expect(owner?.networks).not.toContain('net-1');
    });
  });

  describe(`${name}: all other sign-ins of a user`, () => {
    it('are removed at once', async () => {
      const times = { createdAt: NOW, lastUsedAt: NOW, expiresAt: NOW + 1_000 };
      for (const [id, userId] of [['sgn_1', alice.id], ['sgn_2', alice.id], ['sgn_3', bob.id]] as const) // biome-ignore format: pairs
        await store().signIns.addSignIn(
          { id, userId, keyId: null, madeBy: null, ...times },
          fresh(Buffer.alloc(32), NOW),
        );
      expect(await store().signIns.removeOtherSignIns(alice.id, 'sgn_1')).toEqual(['sgn_2']);
      expect(await store().signIns.findSignIn('sgn_1', NOW)).not.toBeNull();
      expect(await store().signIns.findSignIn('sgn_3', NOW)).not.toBeNull();
    });
  });
}
