/** What every store does with webhooks, and with the queue of their events. */
import { describe, expect, it } from 'vitest';
import type { NewWebhook, Store } from '../../../src/control/ports/index.ts';
import { alice, bob, poolRecord, sandboxRecord } from '../fixtures.ts';
import { snapshotRecord } from './snapshot-conformance.ts';

const hook = (overrides: Partial<NewWebhook> = {}): NewWebhook => ({
  id: 'hook_1',
  ownerId: alice.id,
  createdBy: alice.id,
  url: 'https://receiver.example/',
  events: ['sandbox.created', 'sandbox.stopped', 'sandbox.deleted', 'snapshot.ready', 'quota.refused'],
  createdAt: 5,
  ...overrides,
});
const delivered = { state: 'delivered', status: 200, error: null, nextAttemptAt: null } as const;
const failed = { state: 'pending', status: null, error: 'refused', nextAttemptAt: 900 } as const;

/** @param getStore The suite's open store. */
export function webhookConformance(name: string, getStore: () => Store): void {
  const webhooks = () => getStore().webhooks;
  const queued = async (id = 'hook_1') =>
    (await webhooks().deliveries(id)).map(({ type, data, state }) => ({ type, data, state })).reverse();
  const types = async (id = 'hook_1') => (await queued(id)).map(({ type }) => type);
  /** One after the other: of two at once the later one may come first, and the other is then of the same minute. */
  const refuse = async (count: number) => {
    for (let n = 0; n < count; n++) await webhooks().refused(alice.id, 'cpu', n * 60_000);
  };

  describe(`${name}: webhooks`, () => {
    it('come back as they were made, without their secrets', async () => {
      const made = await webhooks().insert(hook(), 'whsec_one');
      expect(made).toEqual({
        ...hook(),
        ...{ updatedAt: 5, disabledAt: null, disabledReason: null, previousUntil: null },
        ...{ failingSince: null, lastAttemptAt: null, lastStatus: null, lastError: null },
        ...{ dropped: 0, queued: 0 },
      });
      expect(await webhooks().get('hook_1')).toEqual(made);
      expect(await webhooks().list(alice.id)).toEqual([made]);
      expect(await webhooks().list(bob.id)).toEqual([]);
      expect(await webhooks().list(null)).toEqual([]);
    });

    it('are ten of an owner, and a hundred of all', async () => {
      for (let n = 0; n < 10; n++) await webhooks().insert(hook({ id: `hook_${n}` }), 's');
      await expect(webhooks().insert(hook({ id: 'hook_x' }), 's')).rejects.toMatchObject({
        code: 'resource_exhausted',
      });
      await webhooks().insert(hook({ id: 'hook_all', ownerId: null }), 's');
      await webhooks().remove('hook_0');
      await webhooks().insert(hook({ id: 'hook_y' }), 's');
    });

    it('have two secrets for the time of an overlap', async () => {
      await webhooks().insert(hook(), 'whsec_one');
      expect(await webhooks().secrets('hook_1', 0)).toEqual(['whsec_one']);
      expect(await webhooks().rotate('hook_1', 'whsec_two', 100, 7)).toMatchObject({ previousUntil: 100 });
      expect(await webhooks().secrets('hook_1', 99)).toEqual(['whsec_two', 'whsec_one']);
      expect(await webhooks().secrets('hook_1', 100)).toEqual(['whsec_two']);
      await webhooks().rotate('hook_1', 'whsec_three', 200, 8);
      expect(await webhooks().secrets('hook_1', 99)).toEqual(['whsec_three', 'whsec_two']);
      expect(await webhooks().secrets('hook_none', 0)).toEqual([]);
      expect(await webhooks().rotate('hook_none', 'x', 1, 1)).toBeNull();
    });

    it('change in what was given, and drop what waits when they are disabled', async () => {
      await webhooks().insert(hook(), 's');
      await refuse(3);
      expect(await webhooks().update('hook_1', { url: 'https://other.example/' }, 8)).toMatchObject({
        ...{ url: 'https://other.example/', events: hook().events, updatedAt: 8, queued: 3 },
      });
      expect(await webhooks().update('hook_1', { disabledReason: 'no reason' }, 9)).toMatchObject({
        ...{ disabledAt: 9, disabledReason: 'no reason', queued: 0, dropped: 3 },
      });
      expect((await queued()).map(({ state }) => state)).toEqual(['dropped', 'dropped', 'dropped']);
      await webhooks().refused(alice.id, 'disk', 1_000_000);
      expect(await queued()).toHaveLength(3);
      expect(await webhooks().due(1e12)).toEqual([]);
      expect(await webhooks().update('hook_1', { disabledReason: null }, 10)).toMatchObject({
        ...{ disabledAt: null, disabledReason: null },
      });
      expect(await webhooks().update('hook_none', {}, 1)).toBeNull();
    });

    it('are gone with their events once they are removed', async () => {
      await webhooks().insert(hook(), 's');
      await refuse(1);
      expect(await webhooks().remove('hook_1')).toBe(true);
      expect(await webhooks().remove('hook_1')).toBe(false);
      expect(await queued()).toEqual([]);
      expect(await webhooks().due(1e12)).toEqual([]);
    });
  });

  describe(`${name}: events of sandboxes`, () => {
    it('are queued by the change itself, for the types that a webhook hears', async () => {
      const { sandboxes } = getStore();
      await webhooks().insert(hook(), 's');
      const box = sandboxRecord({ state: 'stopped', operation: 'creating', name: 'box' });
      await sandboxes.insert(box);
      await sandboxes.update(box.id, 1, { operation: null, state: 'started' });
      await sandboxes.update(box.id, 1, { operation: 'stopping', generation: 2, stateReason: 'idle' });
      await sandboxes.update(box.id, 2, { operation: null, state: 'stopped' });
      await sandboxes.update(box.id, 2, { operation: null, state: 'archived' });
      await sandboxes.touch(new Map([[box.id, 1e15]]));
      await sandboxes.update(box.id, 1, { state: 'error' });
      await sandboxes.update(box.id, 2, { operation: 'deleting', generation: 3 });
      await sandboxes.remove(box.id, 3);
      const of = (state: string, reason: string | null) => ({
        ...{ sandbox_id: box.id, name: 'box', owner_id: alice.id, state, reason },
      });
      expect(await queued()).toEqual([
        { type: 'sandbox.created', data: of('started', null), state: 'pending' },
        { type: 'sandbox.stopped', data: of('stopped', 'idle'), state: 'pending' },
        { type: 'sandbox.deleted', data: of('deleted', null), state: 'pending' },
      ]);
      const ids = (await webhooks().deliveries('hook_1')).map(({ id }) => id);
      expect(new Set(ids).size).toBe(3);
      for (const id of ids) expect(id).toMatch(/^msg_[0-9a-z]{24,32}$/);
    });

    it('of one that is given are those of its new owner', async () => {
      const { sandboxes, snapshots } = getStore();
      const events = ['sandbox.given', 'sandbox.stopped', 'snapshot.given'] as const;
      await webhooks().insert(hook({ id: 'hook_alice', events: [...events] }), 's');
      await webhooks().insert(hook({ id: 'hook_bob', ownerId: bob.id, events: [...events] }), 's');
      const box = sandboxRecord({ name: 'box' });
      await sandboxes.insert(box);
      await sandboxes.update(box.id, 1, { ownerId: bob.id, name: 'box' });
      await sandboxes.update(box.id, 1, { operation: null, state: 'stopped' });
      await snapshots.insert(
        snapshotRecord({ id: 'snap_1', name: 'img', state: 'active', ownerId: alice.id }),
      );
      await snapshots.give('snap_1', bob.id, 5);
      expect(await queued('hook_alice')).toEqual([]);
      const given = { name: 'box', owner_id: bob.id, reason: null };
      expect(await queued('hook_bob')).toMatchObject([
        { type: 'sandbox.given', data: { ...given, sandbox_id: box.id, state: 'started' } },
        { type: 'sandbox.stopped', data: { ...given, sandbox_id: box.id, state: 'stopped' } },
        { type: 'snapshot.given', data: { ...given, name: 'img', snapshot_id: 'snap_1', state: 'active' } },
      ]);
    });

    it('of one that its stop deletes have the reason of the stop', async () => {
      const { sandboxes } = getStore();
      await webhooks().insert(hook(), 's');
      const box = sandboxRecord({ operation: 'stopping', stateReason: 'idle' });
      await sandboxes.insert(box);
      await sandboxes.remove(box.id, 1);
      expect(await queued()).toMatchObject([{ type: 'sandbox.deleted', data: { reason: 'idle' } }]);
    });

    it('of one that its deadline deletes have that as their reason', async () => {
      const { sandboxes } = getStore();
      await webhooks().insert(hook(), 's');
      const box = sandboxRecord({ operation: 'deleting', stateReason: 'Deleted at its deadline.' });
      await sandboxes.insert(box);
      await sandboxes.remove(box.id, 1);
      expect(await queued()).toMatchObject([
        { type: 'sandbox.deleted', data: { reason: 'Deleted at its deadline.' } },
      ]);
    });

    it('of a claimed one begin with the claim, and of one that failed to be created there are none', async () => {
      const { sandboxes } = getStore();
      await webhooks().insert(hook(), 's');
      await sandboxes.insert(poolRecord());
      const claim = { ownerId: alice.id, name: 'claimed' };
      const match = { imageDigest: 'sha256:base', diskGb: 20 };
      await sandboxes.claim(match, { ...claim, operation: null });
      expect(await types()).toEqual(['sandbox.created']);
      await sandboxes.insert(poolRecord());
      const fitted = await sandboxes.claim(match, { ...claim, name: 'other', operation: 'creating' });
      expect(await types()).toEqual(['sandbox.created']);
      await sandboxes.update(fitted?.id ?? '', 2, { operation: null });
      expect(await types()).toEqual(['sandbox.created', 'sandbox.created']);
      const broken = sandboxRecord({ operation: 'creating' });
      await sandboxes.insert(broken);
      await sandboxes.remove(broken.id, 1);
      expect(await types()).toHaveLength(2);
    });

    it('go to the owner’s webhooks, and to those for everybody of an admin', async () => {
      const { sandboxes, users } = getStore();
      await webhooks().insert(hook(), 's');
      await webhooks().insert(hook({ id: 'hook_all', ownerId: null }), 's');
      const box = sandboxRecord({ ownerId: bob.id });
      await sandboxes.insert(box);
      await sandboxes.update(box.id, 1, { state: 'stopped' });
      expect(await types()).toEqual([]);
      expect(await types('hook_all')).toEqual(['sandbox.stopped']);
      expect(await webhooks().due(0)).toEqual([{ id: 'hook_all', ownerId: null }]);
      await users.updateUser(bob.id, () => ({ role: 'admin' }));
      await users.updateUser(alice.id, () => ({ role: 'member' }));
      expect(await webhooks().due(0)).toEqual([]);
      await sandboxes.remove(box.id, 1);
      expect(await types('hook_all')).toEqual(['sandbox.stopped']);
    });

    it('wait for nobody while the owner is disabled', async () => {
      const { sandboxes, users } = getStore();
      await webhooks().insert(hook({ ownerId: bob.id, createdBy: bob.id }), 's');
      const box = sandboxRecord({ ownerId: bob.id });
      await sandboxes.insert(box);
      await users.updateUser(bob.id, () => ({ disabledAt: 3 }));
      await sandboxes.update(box.id, 1, { state: 'stopped' });
      expect(await types()).toEqual([]);
    });

    it('of snapshots are about their end', async () => {
      const { snapshots } = getStore();
      await webhooks().insert(
        hook({ events: ['snapshot.ready', 'snapshot.failed', 'snapshot.deleted'] }),
        's',
      );
      const snapshot = snapshotRecord({ id: 'snap_1', name: 'one', state: 'pending' });
      await snapshots.insert(snapshot);
      await snapshots.insert({ ...snapshot, id: 'snap_2', name: 'two' });
      await snapshots.update('snap_1', { state: 'pulling' });
      await snapshots.update('snap_1', { state: 'active' });
      await snapshots.update('snap_2', { state: 'error', stateReason: 'no such image' });
      await snapshots.delete('snap_1');
      expect(await queued()).toMatchObject([
        { type: 'snapshot.ready', data: { snapshot_id: 'snap_1', state: 'active' } },
        { type: 'snapshot.failed', data: { snapshot_id: 'snap_2', reason: 'no such image' } },
        { type: 'snapshot.deleted', data: { snapshot_id: 'snap_1', state: 'deleted', owner_id: alice.id } },
      ]);
    });

    it('about a quota come once a minute for each quota', async () => {
      await webhooks().refused(alice.id, 'cpu', 0);
      await webhooks().insert(hook(), 's');
      for (const now of [60_000, 119_999, 120_000]) await webhooks().refused(alice.id, 'cpu', now);
      await webhooks().refused(alice.id, 'disk', 120_001);
      await webhooks().refused(bob.id, 'disk', 120_001);
      expect((await queued()).map(({ data }) => data)).toEqual([
        { owner_id: alice.id, quota: 'cpu' },
        { owner_id: alice.id, quota: 'cpu' },
        { owner_id: alice.id, quota: 'disk' },
      ]);
    });
  });

  describe(`${name}: the queue of a webhook`, () => {
    it('gives each event to one taker, and again after its time', async () => {
      await webhooks().insert(hook(), 's');
      await refuse(3);
      const [first, second, third] = (await webhooks().deliveries('hook_1')).reverse();
      const takes = await Promise.all([
        webhooks().take('hook_1', 1, 10, 100),
        webhooks().take('hook_1', 1, 10, 100),
        webhooks().take('hook_1', 5, 10, 100),
      ]);
      const ids = [first?.id, second?.id, third?.id].sort();
      expect(
        takes
          .flat()
          .map(({ id }) => id)
          .sort(),
      ).toEqual(ids);
      expect(takes.flat()[0]).toMatchObject({
        ...{ attempts: 1, firstAttemptAt: 10, lastAttemptAt: 10, nextAttemptAt: 100, state: 'pending' },
      });
      expect(await webhooks().take('hook_1', 5, 99, 200)).toEqual([]);
      expect(await webhooks().due(99)).toEqual([]);
      expect(await webhooks().due(100)).toEqual([{ id: 'hook_1', ownerId: alice.id }]);
      expect(await webhooks().take('hook_1', 5, 100, 200)).toMatchObject([
        { id: first?.id, attempts: 2, firstAttemptAt: 10 },
        { id: second?.id, attempts: 2 },
        { id: third?.id, attempts: 2 },
      ]);
    });

    it('ends an attempt once, and leaves a later one alone', async () => {
      await webhooks().insert(hook(), 's');
      await refuse(1);
      const [taken] = await webhooks().take('hook_1', 1, 10, 20);
      if (!taken) throw new Error('nothing was due');
      await webhooks().settle(taken, failed, 15);
      expect(await webhooks().get('hook_1')).toMatchObject({
        ...{ failingSince: 15, lastAttemptAt: 15, lastStatus: null, lastError: 'refused', queued: 1 },
      });
      const [again] = await webhooks().take('hook_1', 1, 900, 1_000);
      if (!again) throw new Error('nothing was due');
      await webhooks().settle(taken, delivered, 901);
      expect(await queued()).toMatchObject([{ state: 'pending' }]);
      await webhooks().settle(again, { ...failed, nextAttemptAt: 950 }, 902);
      expect(await webhooks().get('hook_1')).toMatchObject({ failingSince: 15, lastAttemptAt: 902 });
      const [last] = await webhooks().take('hook_1', 1, 950, 1_000);
      if (!last) throw new Error('nothing was due');
      await webhooks().settle(last, delivered, 960);
      expect(await webhooks().get('hook_1')).toMatchObject({
        ...{ failingSince: null, lastAttemptAt: 960, lastStatus: 200, lastError: null, queued: 0 },
      });
    });

    it('holds a thousand, drops the oldest and counts them, and keeps a hundred that are over', async () => {
      await webhooks().insert(hook(), 's');
      await refuse(1_003);
      const all = await webhooks().take('hook_1', 2, 0, 1);
      await webhooks().trim('hook_1');
      expect(await webhooks().get('hook_1')).toMatchObject({ queued: 1_000, dropped: 3 });
      await webhooks().settle(all[0] ?? { id: '', webhookId: 'hook_1', attempts: 0 }, delivered, 1);
      expect(await webhooks().get('hook_1')).toMatchObject({ queued: 1_000, lastAttemptAt: null });
      await webhooks().update('hook_1', { disabledReason: 'stop' }, 1);
      await webhooks().trim('hook_1');
      expect(await webhooks().get('hook_1')).toMatchObject({ queued: 0, dropped: 1_003 });
      expect(await webhooks().deliveries('hook_1')).toHaveLength(100);
    });

    it('takes what is over anew under its id, and a test at once', async () => {
      await webhooks().insert(hook(), 's');
      expect(await webhooks().takeTest('hook_2', 50, 80)).toBeNull();
      const test = await webhooks().takeTest('hook_1', 50, 80);
      if (!test) throw new Error('the webhook is gone');
      expect(test).toMatchObject({ type: 'webhook.test', data: { webhook_id: 'hook_1' }, attempts: 1 });
      expect(await webhooks().due(79)).toEqual([]);
      expect(await webhooks().redeliver('hook_1', test.id)).toBeNull();
      await webhooks().settle(test, delivered, 60);
      expect(await webhooks().redeliver('hook_2', test.id)).toBeNull();
      expect(await webhooks().redeliver('hook_1', test.id)).toMatchObject({
        ...{ id: test.id, state: 'pending', attempts: 0, firstAttemptAt: null, nextAttemptAt: 0 },
      });
      expect(await webhooks().due(60)).toEqual([{ id: 'hook_1', ownerId: alice.id }]);
    });
  });
}
