/** What every implementation of the store does with a quota: counts and changes in one transaction. */
import { describe, expect, it } from 'vitest';
import type { Allowance, Store } from '../../../src/control/ports/index.ts';
import { type Quota, unlimited } from '../../../src/model/quota.ts';
import { alice, bob, poolRecord, sandboxRecord } from '../fixtures.ts';
import { snapshotRecord } from './snapshot-conformance.ts';

const exhausted = { code: 'resource_exhausted' };
const GB = { cpu: 2, memory: 4, disk: 20, gpu: 0 };

function within(quota: Partial<Quota>, ownerId = alice.id): Allowance {
  return { ownerId, quota: { ...unlimited, ...quota } };
}

/** @param getStore The suite's open store, with Alice and Bob in it. */
export function quotaConformance(name: string, getStore: () => Store): void {
  const sandboxes = () => getStore().sandboxes;

  describe(`${name}: quotas`, () => {
    it('count sandboxes and disk of all, cpu and memory of those that run or are about to', async () => {
      const insert = (overrides: Parameters<typeof sandboxRecord>[0]) =>
        sandboxes().insert(sandboxRecord({ resources: GB, ...overrides }));
      await insert({});
      await insert({ state: 'stopped' });
      await insert({ state: 'archived' });
      await insert({ state: 'error' });
      await insert({ state: 'stopped', operation: 'creating' });
      await insert({ state: 'stopped', operation: 'starting' });
      await insert({ state: 'archived', operation: 'restoring' });
      await insert({ state: 'started', operation: 'stopping' });
      await insert({ ownerId: bob.id });
      await sandboxes().insert(poolRecord());
      // All but the archived one and the one being restored, whoever's.
      expect(await sandboxes().promisedDiskGb()).toBe(20 * 8);
      const running = 5;
      expect(await sandboxes().usage(alice.id)).toEqual({
        ...{ sandboxes: 8, cpu: 2 * running, memory: 4 * running, disk: 20 * 8 },
      });
      expect(await sandboxes().usage(bob.id)).toEqual({ sandboxes: 1, cpu: 2, memory: 4, disk: 20 });
      expect(await sandboxes().usage('user_none')).toEqual({ sandboxes: 0, cpu: 0, memory: 0, disk: 0 });
    });

    it('count a resize by what it is heading for', async () => {
      const resizeTarget = { cpu: 1, memory: 8, disk: 40, gpu: 0 };
      await sandboxes().insert(sandboxRecord({ operation: 'resizing', resizeTarget, resources: GB }));
      expect(await sandboxes().usage(alice.id)).toEqual({ sandboxes: 1, cpu: 2, memory: 8, disk: 40 });
    });

    it.each([
      ['sandboxes', { sandboxes: 1 }],
      ['cpu', { cpu: 3 }],
      ['memory', { memory: 7 }],
      ['disk', { disk: 39 }],
    ] as const)('refuse a sandbox more than the %s allow, and leave nothing of it', async (_kind, quota) => {
      await sandboxes().insert(sandboxRecord({ resources: GB }), within(quota));
      const before = await sandboxes().all();
      const second = sandboxRecord({ resources: GB });
      await expect(sandboxes().insert(second, within(quota))).rejects.toMatchObject(exhausted);
      expect(await sandboxes().all()).toEqual(before);
      await sandboxes().insert(sandboxRecord({ resources: GB, ownerId: bob.id }), within(quota, bob.id));
      await sandboxes().insert(second, within({}));
    });

    it('let one of two have the last that there is', async () => {
      const limit = within({ sandboxes: 3 });
      const results = await Promise.allSettled(
        Array.from({ length: 8 }, () => sandboxes().insert(sandboxRecord(), limit)),
      );
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
      expect(await sandboxes().usage(alice.id)).toMatchObject({ sandboxes: 3 });
    });

    it('refuse a claim, and the sandbox stays in the pool', async () => {
      const box = poolRecord({ resources: GB });
      await sandboxes().insert(box);
      const match = { imageDigest: box.imageDigest, diskGb: GB.disk };
      const patch = { ownerId: alice.id, name: 'mine', resources: { ...GB, cpu: 4 } };
      await expect(sandboxes().claim(match, patch, within({ cpu: 3 }))).rejects.toMatchObject(exhausted);
      expect(await sandboxes().pool()).toEqual([box]);
      expect(await sandboxes().claim(match, patch, within({ cpu: 4 }))).toMatchObject({ name: 'mine' });
    });

    it('refuse a start and a resize, and take whatever grows in nothing that is over', async () => {
      const stopped = sandboxRecord({ state: 'stopped', resources: GB });
      await sandboxes().insert(stopped);
      const start = { operation: 'starting' as const, generation: 2 };
      const { id } = stopped;
      await expect(sandboxes().update(id, 1, start, within({ memory: 3 }))).rejects.toMatchObject(exhausted);
      expect(await sandboxes().get(id)).toEqual(stopped);
      expect(await sandboxes().update(id, 1, start, within({ sandboxes: 0, disk: 0 }))).toMatchObject(start);
      const resize = { operation: 'resizing' as const, resizeTarget: { ...GB, disk: 21 } };
      await expect(sandboxes().update(id, 2, resize, within({ disk: 20 }))).rejects.toMatchObject(exhausted);
      expect(await sandboxes().update(id, 2, resize, within({ cpu: 0, disk: 21 }))).toMatchObject(resize);
    });

    it('count snapshots in whatever state; one that replaces another adds none', async () => {
      const { snapshots } = getStore();
      const one = within({ snapshots: 1 });
      await snapshots.insert(snapshotRecord({ name: 'failed', state: 'error' }), one);
      await snapshots.insert(snapshotRecord({ name: 'failed', state: 'pending' }), one);
      await expect(snapshots.insert(snapshotRecord({ name: 'more' }), one)).rejects.toMatchObject(exhausted);
      expect(await snapshots.count(alice.id)).toBe(1);
      expect(await snapshots.count(bob.id)).toBe(0);
    });
  });
}
