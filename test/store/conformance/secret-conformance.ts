/** What every store does with the secrets of owners. */
import { describe, expect, it } from 'vitest';
import type { NewSecret, Store } from '../../../src/control/ports/index.ts';
import { alice, bob, sandboxRecord } from '../fixtures.ts';

/** A secret of Alice. */
export const secretRecord = (overrides: Partial<NewSecret> = {}): NewSecret => ({
  ...{ id: 'se_1', ownerId: alice.id, name: 'stripe', variable: 'STRIPE' },
  ...{ targets: ['https://api.example.com'], place: 'bearer', provider: null, createdAt: 5, expiresAt: null },
  ...overrides,
});
const VALUE = 'sk_live_pässword "1"';

/** @param getStore The suite's open store. */
export function secretConformance(name: string, getStore: () => Store): void {
  const secrets = () => getStore().secrets;
  const sandboxes = () => getStore().sandboxes;

  describe(`${name}: secrets`, () => {
    it('come back as they were made, by id and by name, without their values', async () => {
      const made = await secrets().insert(secretRecord(), VALUE);
      expect(made).toEqual({ ...secretRecord(), updatedAt: 5, rotatedAt: 5, lastUsedAt: null });
      expect(await secrets().find(alice.id, 'se_1')).toEqual(made);
      expect(await secrets().find(alice.id, 'stripe')).toEqual(made);
      expect(await secrets().find(alice.id, 'strip')).toBeNull();
      expect(await secrets().list(alice.id)).toEqual([made]);
    });

    it("are another owner's under no name and no id", async () => {
      await secrets().insert(secretRecord(), VALUE);
      expect(await secrets().list(bob.id)).toEqual([]);
      expect(await secrets().find(bob.id, 'stripe')).toBeNull();
      expect(await secrets().some(bob.id, ['se_1'])).toEqual([]);
      expect(await secrets().opened(bob.id, ['se_1'])).toEqual([]);
    });

    it('are opened by their ids alone, sorted by name', async () => {
      await secrets().insert(secretRecord(), VALUE);
      await secrets().insert(secretRecord({ id: 'se_2', name: 'b', createdAt: 6 }), 'value of b');
      await secrets().insert(secretRecord({ id: 'se_3', name: 'c', createdAt: 7 }), 'value of c');
      const opened = await secrets().opened(alice.id, ['se_1', 'se_2', 'se_none']);
      expect(opened.map(({ secret, value }) => [secret.id, value])).toEqual([
        ['se_2', 'value of b'],
        ['se_1', VALUE],
      ]);
      expect((await secrets().some(alice.id, ['se_3', 'se_1'])).map(({ id }) => id)).toEqual([
        'se_3',
        'se_1',
      ]);
      expect(await secrets().some(alice.id, [])).toEqual([]);
    });

    it('have names of their own with each owner', async () => {
      await secrets().insert(secretRecord(), VALUE);
      await secrets().insert(secretRecord({ id: 'se_2', ownerId: bob.id }), VALUE);
      await expect(secrets().insert(secretRecord({ id: 'se_3' }), VALUE)).rejects.toMatchObject({
        ...{ code: 'already_exists', fields: { parameter: 'name' } },
      });
    });

    it('are a hundred of an owner', async () => {
      for (let n = 0; n < 100; n++)
        await secrets().insert(secretRecord({ id: `se_${n}`, name: `n${n}` }), VALUE);
      await expect(secrets().insert(secretRecord({ id: 'se_x', name: 'x' }), VALUE)).rejects.toMatchObject({
        code: 'resource_exhausted',
      });
      await secrets().insert(secretRecord({ id: 'se_y', ownerId: bob.id }), VALUE);
    });

    it('change in what is given, and keep the value', async () => {
      await secrets().insert(secretRecord({ expiresAt: 50 }), VALUE);
      const targets = ['https://other.example.com'];
      expect(await secrets().update('se_1', { targets }, 7)).toEqual({
        ...secretRecord({ targets, expiresAt: 50 }),
        ...{ updatedAt: 7, rotatedAt: 5, lastUsedAt: null },
      });
      expect(await secrets().update('se_1', { variable: 'OTHER', expiresAt: null }, 8)).toMatchObject({
        ...{ variable: 'OTHER', targets, expiresAt: null, updatedAt: 8 },
      });
      expect((await secrets().opened(alice.id, ['se_1']))[0]?.value).toBe(VALUE);
      expect(await secrets().update('se_none', { variable: 'X' }, 8)).toBeNull();
    });

    it('have another value after a rotation, and what else is given', async () => {
      await secrets().insert(secretRecord(), VALUE);
      expect(await secrets().rotate('se_1', 'another value', { expiresAt: 90 }, 7)).toMatchObject({
        ...{ rotatedAt: 7, updatedAt: 7, expiresAt: 90, targets: ['https://api.example.com'] },
      });
      expect((await secrets().opened(alice.id, ['se_1']))[0]?.value).toBe('another value');
      expect(await secrets().rotate('se_none', 'x', {}, 7)).toBeNull();
    });

    it('know their last use, which no change forgets', async () => {
      await secrets().insert(secretRecord(), VALUE);
      await secrets().noteUses(
        new Map([
          ['se_1', 70],
          ['se_none', 71],
        ]),
      );
      await secrets().noteUses(new Map([['se_1', 60]]));
      expect((await secrets().find(alice.id, 'se_1'))?.lastUsedAt).toBe(70);
      expect(await secrets().rotate('se_1', 'another value', {}, 80)).toMatchObject({ lastUsedAt: 70 });
      await secrets().noteUses(new Map());
    });

    it('are gone once they are removed', async () => {
      await secrets().insert(secretRecord(), VALUE);
      expect(await secrets().remove('se_1')).toBe(true);
      expect(await secrets().remove('se_1')).toBe(false);
      expect(await secrets().opened(alice.id, ['se_1'])).toEqual([]);
    });

    it('are held by the sandboxes of their owner that name them, but for those in the making', async () => {
      const [one, other, third, made] = [
        sandboxRecord({ secretIds: ['se_2', 'se_1'] }),
        sandboxRecord({ secretIds: ['se_11'] }),
        sandboxRecord({ ownerId: bob.id, secretIds: ['se_1'] }),
        sandboxRecord({ secretIds: ['se_1'], operation: 'creating' }),
      ];
      for (const sandbox of [one, other, third, made]) await sandboxes().insert(sandbox);
      expect(await secrets().holders(alice.id, 'se_1')).toEqual([one.id]);
      expect(await secrets().holders(alice.id, 'se_none')).toEqual([]);
      expect((await sandboxes().get(one.id))?.secretIds).toEqual(['se_2', 'se_1']);
    });

    it('of a provider have no value, and are opened beside those that have one', async () => {
      const provider = 'https://github.com';
      const made = await secrets().insert(
        secretRecord({ id: 'se_2', name: 'github', place: 'provider', provider }),
        null,
      );
      expect(made).toMatchObject({ provider, place: 'provider' });
      await secrets().insert(secretRecord(), VALUE);
      const opened = await secrets().opened(alice.id, ['se_1', 'se_2']);
      expect(opened.map(({ secret, value }) => [secret.id, secret.provider, value])).toEqual([
        ['se_2', provider, null],
        ['se_1', null, VALUE],
      ]);
      expect(await secrets().update('se_2', { variable: 'GH_TOKEN' }, 7)).toMatchObject({ provider });
      expect((await secrets().opened(alice.id, ['se_2']))[0]?.value).toBeNull();
    });

    it('of a provider have owners with started sandboxes, each once', async () => {
      const provider = 'https://github.com';
      const github = { name: 'github', place: 'provider', provider };
      await secrets().insert(secretRecord({ id: 'se_2', ...github }), null);
      await secrets().insert(secretRecord({ id: 'se_3', ownerId: bob.id, ...github }), null);
      await secrets().insert(secretRecord({ id: 'se_4' }), VALUE);
      const started = { state: 'started' as const, operation: null };
      const rows = [
        sandboxRecord({ ...started, secretIds: ['se_4', 'se_2'] }),
        sandboxRecord({ ...started, secretIds: ['se_2'] }),
        sandboxRecord({ state: 'stopped', operation: null, ownerId: bob.id, secretIds: ['se_3'] }),
        // Of another owner than its secret.
        sandboxRecord({ ...started, ownerId: bob.id, secretIds: ['se_2', 'se_33'] }),
      ];
      for (const row of rows) await sandboxes().insert(row);
      expect(await secrets().providerOwners(provider)).toEqual([alice.id]);
      expect(await secrets().providerOwners('https://git.example.com')).toEqual([]);
    });

    it('go with the team that owns them', async () => {
      const { teams } = getStore();
      await teams.insert({ id: 'team_1', name: 'core', createdAt: 1, quota: {} });
      await secrets().insert(secretRecord({ ownerId: 'team_1' }), VALUE);
      await teams.remove('team_1');
      expect(await secrets().list('team_1')).toEqual([]);
    });
  });
}
