/** What every implementation of the snapshots' port does. */
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../../src/control/ports/index.ts';
import { newSnapshotId } from '../../../src/model/ids.ts';
import { unlimited } from '../../../src/model/quota.ts';
import type { Snapshot } from '../../../src/model/snapshot.ts';
import { alice, bob, poolRecord, sandboxRecord } from '../fixtures.ts';
import type { StoreFactory } from './conformance.ts';

/** @param create Makes an empty store; the suite closes it. */
export function snapshotConformance(name: string, create: StoreFactory): void {
  let store: Store;

  beforeEach(async () => {
    store = await create();
    await store.users.insertUser(alice);
    await store.users.insertUser(bob);
    onTestFinished(() => store.close());
  });

  const insert = async (overrides: Partial<Snapshot> = {}): Promise<Snapshot> => {
    const record = snapshotRecord(overrides);
    await store.snapshots.insert(record);
    return record;
  };

  describe(`${name}: snapshots`, () => {
    it('come back as they were inserted and changed', async () => {
      const full = await insert({
        name: 'full',
        state: 'active',
        stateReason: 'a\n"b" \0',
        image: 'localhost:5000/a@sha256:1',
        imageDigest: 'd1',
        entrypoint: ['sh', '-c', 'sleep "1"'],
        resources: { cpu: 16, memory: 64, disk: 200, gpu: 8 },
        sizeBytes: 2 ** 40,
        creationKey: 'k',
        user: 'ann',
      });
      const plain = await insert({ name: 'plain' });
      expect(await store.snapshots.find(alice.id, full.id)).toEqual(full);
      expect(await store.snapshots.find(alice.id, 'plain')).toEqual(plain);
      const patch = { state: 'active', imageDigest: 'd2', sizeBytes: 5, updatedAt: 9 } as const;
      expect(await store.snapshots.update(plain.id, patch)).toEqual({ ...plain, ...patch });
      expect(await store.snapshots.find(alice.id, plain.id)).toEqual({ ...plain, ...patch });
      expect(await store.snapshots.find(alice.id, full.id)).toEqual(full);
      expect(await store.snapshots.update('snap_none', patch)).toBeNull();
    });

    it('have a network in whatever state, which goes with them', async () => {
      const network = { mode: 'rules' as const, profiles: ['git'], allow: ['https://a.example.com'] };
      for (const state of ['pending', 'active', 'error'] as const) {
        const made = await insert({ name: state, state });
        expect(await store.snapshots.setNetwork(made.id, network, 9)).toEqual({
          ...made,
          ...{ network, updatedAt: 9 },
        });
        expect(await store.snapshots.find(alice.id, made.id)).toMatchObject({ network });
      }
      const again = await insert({ name: 'error' });
      expect(await store.snapshots.find(alice.id, again.id)).toMatchObject({ network: null });
      const { id } = await insert({ name: 'cleared', network });
      expect(await store.snapshots.setNetwork(id, null, 9)).toMatchObject({ network: null });
      expect(await store.snapshots.delete(id)).toBe(true);
      expect(await store.snapshots.setNetwork(id, network, 9)).toBeNull();
    });

    it('change only until they are finished: of two who make one, the first is right', async () => {
      for (const state of ['active', 'error'] as const) {
        const { id } = await insert({ name: state });
        expect(await store.snapshots.update(id, { state: 'pulling' })).toMatchObject({ state: 'pulling' });
        expect(await store.snapshots.update(id, { state, imageDigest: 'd1' })).toMatchObject({ state });
        expect(await store.snapshots.update(id, { state: 'pulling', imageDigest: 'd2' })).toBeNull();
        expect(await store.snapshots.find(alice.id, id)).toMatchObject({ state, imageDigest: 'd1' });
      }
    });

    it('[WIRE-SNAP-04] have a name that is unique per owner, and take the place of one in error', async () => {
      const taken = { code: 'already_exists', fields: { parameter: 'name' } };
      for (const state of ['pending', 'pulling', 'active'] as const) {
        await insert({ name: state, state });
        await expect(insert({ name: state }), state).rejects.toMatchObject(taken);
      }
      const first = await insert({ name: 'a' });
      await insert({ name: 'a', ownerId: bob.id, state: 'error' });
      await store.snapshots.update(first.id, { state: 'error', stateReason: 'why' });
      const second = await insert({ name: 'a' });
      expect(await store.snapshots.find(alice.id, 'a')).toEqual(second);
      expect(await store.snapshots.find(alice.id, first.id)).toBeNull();
      expect(await store.snapshots.update(first.id, { state: 'active' })).toBeNull();
      expect((await store.snapshots.find(bob.id, 'a'))?.state).toBe('error');
    });

    it('are found by their owner alone, and by id only when the words begin with snap_', async () => {
      const mine = await insert({ name: 'mine' });
      expect(await store.snapshots.find(bob.id, 'mine')).toBeNull();
      expect(await store.snapshots.find(bob.id, mine.id)).toBeNull();
      expect(await store.snapshots.find(alice.id, 'Mine')).toBeNull();
    });

    it('[WIRE-SNAP-08] are listed newest first, the later id first among equals, in pages', async () => {
      const made: Snapshot[] = [];
      for (const [at, createdAt] of [5, 9, 5, 1].entries()) {
        made.push(await insert({ name: `n${at}`, createdAt }));
      }
      await insert({ name: 'other', ownerId: bob.id });
      const sorted = made.toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
      const page = (number: number) => store.snapshots.list(alice.id, { page: number, pageSize: 3 });
      expect(await page(1)).toEqual({ snapshots: sorted.slice(0, 3), totalCount: 4 });
      expect(await page(2)).toEqual({ snapshots: sorted.slice(3), totalCount: 4 });
      expect(await page(3)).toEqual({ snapshots: [], totalCount: 4 });
    });

    it('are found after a restart while they are not finished, oldest first', async () => {
      const late = await insert({ name: 'a', state: 'pulling', createdAt: 2 });
      const early = await insert({ name: 'b', state: 'pending', createdAt: 1, ownerId: bob.id });
      await insert({ name: 'c', state: 'active' });
      await insert({ name: 'd', state: 'error' });
      expect(await store.snapshots.unfinished()).toEqual([early, late]);
    });

    it('[WIRE-HTTP-10] are found by the key that they were created under', async () => {
      await insert({ name: 'a', creationKey: 'k', createdAt: 1_000 });
      const newer = await insert({ name: 'b', creationKey: 'k', createdAt: 2_000 });
      await insert({ name: 'a', creationKey: 'k', createdAt: 3_000, ownerId: bob.id });
      expect(await store.snapshots.createdUnder(alice.id, 'k', 0)).toEqual(newer);
      expect(await store.snapshots.createdUnder(alice.id, 'k', 2_001)).toBeNull();
      expect(await store.snapshots.createdUnder(alice.id, 'other', 0)).toBeNull();
    });

    it('are deleted by id, which frees their names and returns whether one was there', async () => {
      const kept = await insert({ name: 'kept' });
      const gone = await insert({ name: 'gone', state: 'active', imageDigest: 'd' });
      expect(await store.snapshots.delete(gone.id)).toBe(true);
      expect(await store.snapshots.delete(gone.id)).toBe(false);
      expect(await store.snapshots.find(alice.id, 'gone')).toBeNull();
      expect(await store.snapshots.update(gone.id, { state: 'active' })).toBeNull();
      expect(await store.snapshots.imagesInUse()).toEqual(new Set());
      expect(await store.snapshots.count(alice.id)).toBe(1);
      expect(await store.snapshots.find(alice.id, kept.id)).toMatchObject({ name: 'kept' });
      await insert({ name: 'gone' });
    });

    it('go to another owner once they are active, within the quota and where the name is free', async () => {
      const quota = { ...unlimited, snapshots: 1 };
      const allowance = { ownerId: bob.id, quota };
      const give = (id: string) => store.snapshots.give(id, bob.id, 9, allowance);
      const one = await insert({ name: 'one', state: 'active', creationKey: 'k' });
      const two = await insert({ name: 'two', state: 'active' });
      const pulling = await insert({ name: 'three', state: 'pulling' });
      const same = await insert({ name: 'one', state: 'error', ownerId: bob.id });
      await expect(give(one.id)).rejects.toMatchObject({ code: 'already_exists' });
      await store.snapshots.delete(same.id);
      const given = { ...one, ownerId: bob.id, creationKey: null, updatedAt: 9 };
      expect(await give(one.id)).toEqual(given);
      expect(await store.snapshots.find(bob.id, 'one')).toEqual(given);
      expect(await store.snapshots.find(alice.id, one.id)).toBeNull();
      await expect(give(two.id)).rejects.toMatchObject({ code: 'resource_exhausted' });
      expect(await store.snapshots.find(alice.id, two.id)).toEqual(two);
      expect(await give(pulling.id)).toBeNull();
      expect(await give('snap_none')).toBeNull();
    });

    it('of sandboxes are known by their disks, whose bytes count as disk in whole GB', async () => {
      const source = { id: 'sb_1', name: 'box' };
      const GiB = 1_073_741_824;
      const kept = await insert({ name: 'kept', source, state: 'active', sizeBytes: GiB + 1 });
      await insert({ name: 'of an image', state: 'active', sizeBytes: 9 * GiB });
      const pending = await insert({ name: 'pending', source, sizeBytes: 1 });
      await insert({ name: 'his', ownerId: bob.id, source, sizeBytes: 7 * GiB });
      expect(await store.snapshots.find(alice.id, kept.id)).toEqual(kept);
      expect(await store.snapshots.withDisks()).toHaveProperty('size', 3);
      expect([...(await store.snapshots.withDisks())]).toEqual(expect.arrayContaining([kept.id, pending.id]));
      expect(await store.sandboxes.usage(alice.id)).toMatchObject({ disk: 3 });
      const allowance = { ownerId: alice.id, quota: { ...unlimited, disk: 4 } };
      const next = (sizeBytes: number) => snapshotRecord({ name: 'next', source, sizeBytes });
      await expect(store.snapshots.insert(next(GiB + 1), allowance)).rejects.toMatchObject({
        code: 'resource_exhausted',
      });
      await store.snapshots.insert(next(GiB), allowance);
    });

    it('keep their images in use, as sandboxes of any state and owner do', async () => {
      await insert({ name: 'a', imageDigest: 'of a snapshot', state: 'active' });
      await insert({ name: 'b', imageDigest: null });
      await store.sandboxes.insert(sandboxRecord({ imageDigest: 'archived', state: 'archived' }));
      await store.sandboxes.insert(sandboxRecord({ imageDigest: 'creating', operation: 'creating' }));
      await store.sandboxes.insert(poolRecord({ imageDigest: 'pool' }));
      expect(await store.snapshots.imagesInUse()).toEqual(
        new Set(['of a snapshot', 'archived', 'creating', 'pool']),
      );
    });
  });
}

let made = 0;

/** A new one of Alice's. */
export function snapshotRecord(overrides: Partial<Snapshot> = {}): Snapshot {
  return {
    id: newSnapshotId(),
    ownerId: alice.id,
    name: `snapshot ${++made}`,
    state: 'pending',
    stateReason: null,
    image: 'debian:13',
    imageDigest: null,
    entrypoint: null,
    resources: { cpu: 2, memory: 4, disk: 20, gpu: 0 },
    regionId: 'local',
    sizeBytes: null,
    creationKey: null,
    createdAt: 1_000,
    updatedAt: 1_000,
    network: null,
    user: null,
    source: null,
    imageConfig: null,
    ...overrides,
  };
}
