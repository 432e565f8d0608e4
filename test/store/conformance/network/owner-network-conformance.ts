/** What every store does with the networks of owners. */
import { describe, expect, it } from 'vitest';
import type { Store } from '../../../../src/control/ports/index.ts';
import { noNetwork, openNetwork } from '../../../../src/model/network/setting.ts';
import { alice, bob, sandboxRecord } from '../../fixtures.ts';

/** @param getStore The suite's open store. */
export function ownerNetworkConformance(name: string, getStore: () => Store): void {
  const networks = () => getStore().ownerNetworks;
  const rules = { mode: 'rules' as const, profiles: ['git', 'of a later version'], allow: ['https://a.b'] };
  const unset = { usual: null, most: null };

  describe(`${name}: networks of owners`, () => {
    it("are the installation's until they are set, one by one, and again", async () => {
      expect(await networks().of(alice.id)).toEqual(unset);
      expect(await networks().set(alice.id, { most: rules })).toEqual({ usual: null, most: rules });
      expect(await networks().set(alice.id, { usual: noNetwork })).toEqual({ usual: noNetwork, most: rules });
      expect(await networks().of(alice.id)).toEqual({ usual: noNetwork, most: rules });
      expect(await networks().of(bob.id)).toEqual(unset);
      expect(await networks().set(alice.id, { most: null })).toEqual({ usual: noNetwork, most: null });
      expect(await networks().set(alice.id, {})).toEqual({ usual: noNetwork, most: null });
    });

    it('are those of users and teams alone, and go with their team', async () => {
      const { teams } = getStore();
      expect(await networks().set('user_none', { most: rules })).toBeNull();
      expect(await networks().of('user_none')).toEqual(unset);
      await teams.insert({ id: 'team_1', name: 'core', createdAt: 1, quota: {} });
      expect(await networks().set('team_1', { most: openNetwork })).toEqual({
        usual: null,
        most: openNetwork,
      });
      await teams.remove('team_1');
      expect(await networks().of('team_1')).toEqual(unset);
    });

    it('reach sandboxes of their owner that run, or may after an operation', async () => {
      const of = async (overrides: Parameters<typeof sandboxRecord>[0]) => {
        const sandbox = sandboxRecord(overrides);
        await getStore().sandboxes.insert(sandbox);
        return sandbox.id;
      };
      const reached = [
        await of({ state: 'started' }),
        await of({ state: 'started', operation: 'resizing' }),
        await of({ state: 'stopped', operation: 'starting' }),
        await of({ state: 'archived', operation: 'restoring' }),
      ];
      for (const state of ['stopped', 'archived', 'error'] as const) await of({ state });
      await of({ state: 'started', operation: 'creating' });
      await of({ state: 'started', ownerId: bob.id });
      await of({ state: 'started', ownerId: null });
      expect((await networks().running(alice.id)).toSorted()).toEqual(reached.toSorted());
    });
  });
}
