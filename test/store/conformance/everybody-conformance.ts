/** What every implementation of the port of everybody's sandboxes does. */
import { describe, expect, it } from 'vitest';
import type { EverybodyFilter, Page, Store } from '../../../src/control/ports/index.ts';
import { alice, bob, poolRecord, sandboxId, sandboxRecord } from '../fixtures.ts';

/** @param getStore The suite's open store: Alice and Bob are in it. */
export function everybodyConformance(name: string, getStore: () => Store): void {
  const ids = async (filter: EverybodyFilter = {}, page: Page = { page: 1, pageSize: 100 }) => {
    const { sandboxes, totalCount } = await getStore().everybody.list(filter, page);
    return { ids: sandboxes.map(({ id }) => id), totalCount };
  };
  const fill = async () => {
    const { sandboxes } = getStore();
    await sandboxes.insert(sandboxRecord({ id: sandboxId(1), createdAt: 5 }));
    await sandboxes.insert(
      sandboxRecord({ id: sandboxId(2), createdAt: 9, ownerId: bob.id, state: 'stopped' }),
    );
    await sandboxes.insert(sandboxRecord({ id: sandboxId(3), createdAt: 5, ownerId: bob.id }));
    await sandboxes.insert(sandboxRecord({ id: sandboxId(4), operation: 'creating' }));
    await sandboxes.insert(poolRecord({ id: sandboxId(5) }));
  };
  const [one, two, three] = ['sb_0000000000000001', 'sb_0000000000000002', 'sb_0000000000000003'];

  describe(`${name}: everybody's sandboxes`, () => {
    it('are those of all owners, newest first, none that is being created, none of the pool', async () => {
      await fill();
      expect(await ids()).toEqual({ ids: [two, three, one], totalCount: 3 });
      expect(await ids({}, { page: 2, pageSize: 2 })).toEqual({ ids: [one], totalCount: 3 });
      expect(await ids({}, { page: 3, pageSize: 2 })).toEqual({ ids: [], totalCount: 3 });
    });

    it('are found by owner and by state', async () => {
      await fill();
      expect(await ids({ ownerId: bob.id })).toEqual({ ids: [two, three], totalCount: 2 });
      expect(await ids({ state: 'started' })).toEqual({ ids: [three, one], totalCount: 2 });
      expect(await ids({ ownerId: bob.id, state: 'stopped' })).toEqual({ ids: [two], totalCount: 1 });
      expect(await ids({ ownerId: 'user_none' })).toEqual({ ids: [], totalCount: 0 });
    });

    it('come with their owner, and with nothing that is the owner’s alone', async () => {
      const secret = { envVars: { TOKEN: 'secret' }, labels: { project: 'hidden' } };
      await getStore().sandboxes.insert(
        sandboxRecord({ id: sandboxId(6), name: 'box', deadline: { at: 9_000, action: 'stop' }, ...secret }),
      );
      const { sandboxes } = await getStore().everybody.list({}, { page: 1, pageSize: 1 });
      expect(sandboxes).toEqual([
        {
          id: 'sb_0000000000000006',
          name: 'box',
          owner: { id: alice.id, name: 'Alice', email: 'alice@example.org' },
          state: 'started',
          operation: null,
          stateReason: null,
          image: 'base',
          resources: { cpu: 2, memory: 4, disk: 20, gpu: 0 },
          deadline: { at: 9_000, action: 'stop' },
          createdAt: 1_000,
          lastActivityAt: 1_000,
        },
      ]);
    });
  });
}
