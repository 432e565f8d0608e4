/** What every implementation of the store's port does. */
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { mapBounded } from '../../../src/concurrency/in-portions.ts';
import type { Page, Store } from '../../../src/control/ports/index.ts';
import type { Sandbox } from '../../../src/model/sandbox.ts';
import { alice, bob, poolRecord, sandboxId, sandboxRecord } from '../fixtures.ts';
import { accessConformance } from './access-conformance.ts';
import { auditConformance } from './audit-conformance.ts';
import { buildStepConformance } from './build-step-conformance.ts';
import { credentialConformance } from './credential-conformance.ts';
import { deviceSignInConformance } from './device-sign-in-conformance.ts';
import { everybodyConformance } from './everybody-conformance.ts';
import { identityConformance } from './identity-conformance.ts';
import { ownerNetworkConformance } from './network/owner-network-conformance.ts';
import { oauthConformance } from './oauth-conformance.ts';
import { userDeletionConformance } from './people/user-deletion-conformance.ts';
import { waysInConformance } from './people/ways-in-conformance.ts';
import { peopleConformance } from './people-conformance.ts';
import { quotaConformance } from './quota-conformance.ts';
import { registryConformance } from './registry-conformance.ts';
import { secretConformance } from './secret-conformance.ts';
import { serviceSecretConformance } from './service-secret-conformance.ts';
import { signInConformance } from './sign-in-conformance.ts';
import { teamConformance } from './team-conformance.ts';
import { webhookConformance } from './webhook-conformance.ts';

const GIT_CREDENTIALS = 64;

export type StoreFactory = () => Promise<Store>;

/** @param create Makes an empty store; the suite closes it. */
export function storeConformance(name: string, create: StoreFactory): void {
  let store: Store;

  beforeEach(async () => {
    store = await create();
    await store.users.insertUser(alice);
    await store.users.insertUser(bob);
    onTestFinished(() => store.close());
  });

  const insert = async (...overrides: Partial<Sandbox>[]): Promise<Sandbox[]> => {
    const records = overrides.map(sandboxRecord);
    for (const record of records) await store.sandboxes.insert(record);
    return records;
  };
  const insertOne = async (overrides: Partial<Sandbox> = {}): Promise<Sandbox> => {
    const [record] = await insert(overrides);
    if (!record) throw new Error('nothing was inserted');
    return record;
  };

  describe(`${name}: one sandbox`, () => {
    it('gives back every property as it was inserted', async () => {
      const full = await insertOne({
        state: 'error',
        operation: 'resizing',
        stateReason: 'line\n"quoted" \u{1F4A5} \0 end',
        generation: 7,
        runGeneration: null,
        language: 'typescript',
        snapshot: 'snap',
        image: 'localhost:5000/a@sha256:1',
        entrypoint: ['sh', '-c', 'sleep "1"'],
        resources: { cpu: 16, memory: 64, disk: 200, gpu: 8 },
        resizeTarget: { cpu: 1, memory: 1, disk: 200, gpu: 8 },
        labels: { '': '', 'a"b': '\\', é: '\0', '\ud800': '\udfff' },
        envVars: { PATH: '/bin', __TOKEN: 'é\n\0"', LONE: '\ud800' },
        user: 'ann',
        network: { mode: 'rules', profiles: ['git', 'later'], allow: ['GET http://a.example.com/"', ''] },
        autoStopMinutes: 0,
        autoArchiveMinutes: 0,
        autoDeleteMinutes: 5_256_000,
        deadline: { at: 4_102_444_800_000, action: 'delete' },
        sleep: { afterSeconds: 2_592_000, wakes: true },
        ephemeral: true,
        archive: { store: 's3', bucket: 'b', key: 'a/b', digest: 'ab', hmac: 'cd', sizeBytes: 2 ** 50 },
        createdAt: 8_640_000_000_000_000,
        startedAt: null,
        stoppedAt: 0,
        archivedAt: 3,
      });
      const plain = await insertOne();
      expect(await store.sandboxes.get(full.id)).toEqual(full);
      expect(await store.sandboxes.get(plain.id)).toEqual(plain);
    });

    it('keeps labels and env vars whose key is __proto__', async () => {
      const odd = Object.defineProperty({}, '__proto__', { value: 'x', enumerable: true });
      const { id } = await insertOne({ labels: odd, envVars: odd });
      const stored = await store.sandboxes.get(id);
      expect(Object.entries(stored?.labels ?? {})).toEqual([['__proto__', 'x']]);
      expect(Object.entries(stored?.envVars ?? {})).toEqual([['__proto__', 'x']]);
    });

    it('is null when there is none', async () => {
      expect(await store.sandboxes.get(sandboxId(0))).toBeNull();
      expect(await store.sandboxes.find(alice.id, 'none')).toBeNull();
      expect(await store.sandboxes.update(sandboxId(0), 1, { name: 'x' })).toBeNull();
      expect(await store.sandboxes.remove(sandboxId(0), 1)).toBe(false);
    });

    it('[SBX-TOOLS-03] is found by its id and by its name', async () => {
      const box = await insertOne({ name: 'Demo 1.0_a-b' });
      expect(await store.sandboxes.find(alice.id, box.id)).toEqual(box);
      expect(await store.sandboxes.find(alice.id, 'Demo 1.0_a-b')).toEqual(box);
      expect(await store.sandboxes.find(alice.id, 'demo 1.0_a-b')).toBeNull();
    });

    it('is found by id only when the words begin with sb_', async () => {
      const box = await insertOne();
      await insertOne({ name: sandboxId(12_345) });
      expect(await store.sandboxes.find(alice.id, sandboxId(12_345))).toBeNull();
      expect((await store.sandboxes.find(alice.id, box.id))?.id).toBe(box.id);
    });

    it('is never found by another user', async () => {
      const box = await insertOne({ name: 'mine' });
      expect(await store.sandboxes.find(bob.id, 'mine')).toBeNull();
      expect(await store.sandboxes.find(bob.id, box.id)).toBeNull();
    });

    it('changes only what a patch names', async () => {
      const box = await insertOne({ envVars: { A: '1' }, labels: { a: '1' } });
      const patch = { state: 'stopped', stoppedAt: 9, runGeneration: null, stateReason: 'why' } as const;
      expect(await store.sandboxes.update(box.id, 1, patch)).toEqual({ ...box, ...patch });
      expect(await store.sandboxes.get(box.id)).toEqual({ ...box, ...patch });
      expect(await store.sandboxes.update(box.id, 1, {})).toEqual({ ...box, ...patch });
    });

    it('takes new env vars, labels and name by a patch', async () => {
      const box = await insertOne({ envVars: { A: '1' } });
      const patch = { envVars: { B: '2' }, labels: { b: '2' }, name: 'other' };
      expect(await store.sandboxes.update(box.id, 1, patch)).toEqual({ ...box, ...patch });
      expect(await store.sandboxes.find(alice.id, 'other')).toEqual({ ...box, ...patch });
    });

    it('refuses work of an earlier or later generation, and changes nothing', async () => {
      const box = await insertOne({ generation: 3 });
      expect(await store.sandboxes.update(box.id, 2, { name: 'late' })).toBeNull();
      expect(await store.sandboxes.update(box.id, 4, { name: 'early' })).toBeNull();
      expect(await store.sandboxes.remove(box.id, 2)).toBe(false);
      expect(await store.sandboxes.get(box.id)).toEqual(box);
    });

    it('lets one of many changes of one generation through', async () => {
      const box = await insertOne();
      const results = await Promise.all(
        Array.from({ length: 20 }, () => store.sandboxes.update(box.id, 1, { generation: 2 })),
      );
      expect(results.filter((result) => result !== null)).toHaveLength(1);
    });

    it('is gone once it is removed', async () => {
      const box = await insertOne();
      expect(await store.sandboxes.remove(box.id, 1)).toBe(true);
      expect(await store.sandboxes.remove(box.id, 1)).toBe(false);
      expect(await store.sandboxes.all()).toEqual([]);
    });
  });

  describe(`${name}: names`, () => {
    const taken = { code: 'already_exists', fields: { parameter: 'name' } };

    it('[WIRE-BOX-04] are unique per owner', async () => {
      await insertOne({ name: 'a' });
      await expect(insertOne({ name: 'a' })).rejects.toMatchObject(taken);
      await insertOne({ name: 'a', ownerId: bob.id });
      await insertOne({ name: 'A' });
      expect(await store.sandboxes.all()).toHaveLength(3);
    });

    it('[WIRE-BOX-17] are taken by a sandbox that is being created', async () => {
      await insertOne({ name: 'a', operation: 'creating' });
      await expect(insertOne({ name: 'a' })).rejects.toMatchObject(taken);
    });

    it('are free again once the sandbox is gone', async () => {
      const box = await insertOne({ name: 'a' });
      await store.sandboxes.remove(box.id, 1);
      await insertOne({ name: 'a' });
    });

    it('are not taken over by a patch', async () => {
      await insertOne({ name: 'a' });
      const other = await insertOne({ name: 'b' });
      await expect(store.sandboxes.update(other.id, 1, { name: 'a' })).rejects.toMatchObject(taken);
      expect(await store.sandboxes.get(other.id)).toEqual(other);
    });

    it('come in order, at most the limit, in any state, without those being created', async () => {
      await insert(
        { name: 'c', state: 'archived' },
        { name: 'a' },
        { name: 'b', operation: 'deleting' },
        { name: '0', operation: 'creating' },
        { name: '1', ownerId: bob.id },
      );
      const names = async (limit: number) =>
        (await store.sandboxes.names(alice.id, limit)).map((found) => found.name);
      expect(await names(10)).toEqual(['a', 'b', 'c']);
      expect(await names(2)).toEqual(['a', 'b']);
    });
  });

  describe(`${name}: what was created under a key`, () => {
    it('is found by its owner, the newest, not from before, and not while it is being created', async () => {
      const [, newer] = await insert(
        { creationKey: 'k', createdAt: 1_000 },
        { creationKey: 'k', createdAt: 2_000 },
        { creationKey: 'k', createdAt: 3_000, operation: 'creating' },
        { creationKey: 'k', createdAt: 4_000, ownerId: bob.id },
      );
      expect(await store.sandboxes.createdUnder(alice.id, 'k', 0)).toEqual(newer);
      expect(await store.sandboxes.createdUnder(alice.id, 'k', 2_001)).toBeNull();
      expect(await store.sandboxes.createdUnder(alice.id, 'other', 0)).toBeNull();
    });
  });

  describe(`${name}: lists`, () => {
    const ids = async (filter: Parameters<Store['sandboxes']['list']>[0], page?: Page) => {
      const found = await store.sandboxes.list(filter, page ?? { page: 1, pageSize: 100 });
      return { ids: found.sandboxes.map(({ id }) => id), totalCount: found.totalCount };
    };

    it('[WIRE-BOX-16] are newest first, the later id first among equals', async () => {
      const [a, b, c] = await insert({ createdAt: 5 }, { createdAt: 9 }, { createdAt: 5 });
      expect(await ids({ ownerId: alice.id })).toEqual({ ids: [b?.id, c?.id, a?.id], totalCount: 3 });
    });

    it('hold the owner’s own sandboxes, none that is being created, none of the pool', async () => {
      const mine = await insertOne();
      await insert({ ownerId: bob.id }, { operation: 'creating' });
      await store.sandboxes.insert(poolRecord());
      expect(await ids({ ownerId: alice.id })).toEqual({ ids: [mine.id], totalCount: 1 });
    });

    it('[SBX-LIST-03] keep only the state that is asked for', async () => {
      const [, stopped] = await insert({}, { state: 'stopped' }, { state: 'error' });
      expect(await ids({ ownerId: alice.id, state: 'stopped' })).toEqual({
        ids: [stopped?.id],
        totalCount: 1,
      });
      expect((await ids({ ownerId: alice.id, state: 'archived' })).totalCount).toBe(0);
    });

    it('[SBX-LIST-04] keep only sandboxes that have all label pairs', async () => {
      const [both] = await insert(
        { labels: { a: '1', b: '2', c: '3' } },
        { labels: { a: '1' } },
        { labels: { a: '1', b: '3' } },
        { labels: {} },
        { labels: { '1': 'a', '2': 'b' } },
      );
      const list = (labels: Record<string, string>) => ids({ ownerId: alice.id, labels });
      expect(await list({ a: '1', b: '2' })).toEqual({ ids: [both?.id], totalCount: 1 });
      expect((await list({ a: '1' })).totalCount).toBe(3);
      expect((await list({})).totalCount).toBe(5);
      expect((await list({ a: '1', d: '4' })).totalCount).toBe(0);
      expect((await list({ a: '' })).totalCount).toBe(0);
    });

    it('distinguish labels that look alike in JSON or SQL', async () => {
      const labels = ['a.b', '$.a', 'a"b', "a'b", 'a\\b', '%', '_', 'é', 'e\u0301', '1', '\0', ' ', ''];
      await insert(...labels.map((key) => ({ labels: { [key]: key } })));
      for (const key of labels) {
        expect((await ids({ ownerId: alice.id, labels: { [key]: key } })).totalCount, key).toBe(1);
      }
    });

    it('[SBX-LIST-07] fall into pages that hold every sandbox once', async () => {
      await insert(...Array.from({ length: 23 }, (_, number) => ({ createdAt: number % 3 })));
      const { ids: whole } = await ids({ ownerId: alice.id });
      const pages = await Promise.all(
        [1, 2, 3, 4].map((page) => ids({ ownerId: alice.id }, { page, pageSize: 7 })),
      );
      expect(pages.flatMap((page) => page.ids)).toEqual(whole);
      expect(pages.map((page) => page.totalCount)).toEqual([23, 23, 23, 23]);
    });

    it('keep their order while sandboxes work', async () => {
      const boxes = await insert(...Array.from({ length: 9 }, () => ({})));
      const before = await ids({ ownerId: alice.id });
      for (const { id } of boxes.slice(2, 5)) {
        await store.sandboxes.update(id, 1, { updatedAt: 99, operation: 'stopping', state: 'stopped' });
      }
      await store.sandboxes.touch(new Map(boxes.map(({ id }, at) => [id, 5_000 + at])));
      expect(await ids({ ownerId: alice.id })).toEqual(before);
    });

    it('[WIRE-BOX-16] are empty past the end, with the right total', async () => {
      await insert({}, {});
      for (const page of [2, 3, 1e9, Number.MAX_SAFE_INTEGER]) {
        expect(await ids({ ownerId: alice.id }, { page, pageSize: 100 })).toEqual({ ids: [], totalCount: 2 });
      }
    });

    it('hold everything when all are asked for', async () => {
      await insert({}, { operation: 'creating' }, { ownerId: bob.id });
      await store.sandboxes.insert(poolRecord());
      expect(await store.sandboxes.all()).toHaveLength(4);
    });
  });

  describe(`${name}: the warm pool`, () => {
    const match = { imageDigest: 'sha256:base', diskGb: 20 };
    const toAlice = (name: string) => ({ ownerId: alice.id, name });

    it('holds what is ready and has no owner', async () => {
      const ready = poolRecord();
      await store.sandboxes.insert(ready);
      await store.sandboxes.insert(poolRecord({ operation: 'creating' }));
      await store.sandboxes.insert(poolRecord({ operation: 'deleting' }));
      await store.sandboxes.insert(poolRecord({ state: 'stopped' }));
      await insert({});
      expect(await store.sandboxes.pool()).toEqual([ready]);
    });

    it('is seen by nobody', async () => {
      const ready = poolRecord();
      await store.sandboxes.insert(ready);
      expect(await store.sandboxes.find(alice.id, ready.id)).toBeNull();
      expect(await store.sandboxes.names(alice.id, 9)).toEqual([]);
      expect(await store.sandboxes.schedulable()).toEqual([]);
    });

    it('gives a sandbox that fits, with the patch applied', async () => {
      await store.sandboxes.insert(poolRecord({ imageDigest: 'sha256:other' }));
      await store.sandboxes.insert(poolRecord({ resources: { cpu: 2, memory: 4, disk: 30, gpu: 0 } }));
      await store.sandboxes.insert(poolRecord({ operation: 'creating' }));
      const fit = poolRecord({ generation: 4, runGeneration: 4 });
      await store.sandboxes.insert(fit);
      const patch = { ...toAlice('a'), envVars: { A: '1' }, labels: { a: '1' }, createdAt: 77 };
      const claimed = { ...fit, ...patch, generation: 5 };
      expect(await store.sandboxes.claim(match, patch)).toEqual(claimed);
      expect(await store.sandboxes.find(alice.id, 'a')).toEqual(claimed);
      expect(await store.sandboxes.claim(match, toAlice('b'))).toBeNull();
    });

    it('fences a claimed sandbox against work that read it without an owner', async () => {
      const { id, generation } = poolRecord();
      await store.sandboxes.insert(poolRecord({ id }));
      const claimed = await store.sandboxes.claim(match, toAlice('a'));
      expect(await store.sandboxes.update(id, generation, { operation: 'deleting' })).toBeNull();
      expect(await store.sandboxes.remove(id, generation)).toBe(false);
      expect(await store.sandboxes.get(id)).toEqual(claimed);
    });

    it('gives each sandbox once, however many ask at once', async () => {
      for (let n = 0; n < 10; n++) await store.sandboxes.insert(poolRecord());
      const claims = await Promise.all(
        Array.from({ length: 25 }, (_, n) => store.sandboxes.claim(match, toAlice(`n${n}`))),
      );
      const claimed = claims.filter((sandbox) => sandbox !== null).map(({ id }) => id);
      expect(claimed).toHaveLength(10);
      expect(new Set(claimed).size).toBe(10);
    });

    it('keeps the sandbox when the name is taken', async () => {
      await store.sandboxes.insert(poolRecord());
      await insertOne({ name: 'a', operation: 'creating' });
      await expect(store.sandboxes.claim(match, toAlice('a'))).rejects.toMatchObject({
        code: 'already_exists',
      });
      expect(await store.sandboxes.pool()).toHaveLength(1);
    });
  });

  describe(`${name}: time`, () => {
    it('offers to the scheduler what has an owner and no operation in progress', async () => {
      const deadline = { at: 7, action: 'delete' } as const;
      const sleep = { afterSeconds: 60, wakes: false };
      const box = await insertOne({ stoppedAt: 5, state: 'stopped', envVars: { A: '1' }, deadline, sleep });
      await insert({ operation: 'starting' }, { operation: 'creating' });
      await store.sandboxes.insert(poolRecord());
      expect(await store.sandboxes.schedulable()).toEqual([
        {
          id: box.id,
          ownerId: 'user_alice',
          state: 'stopped',
          operation: null,
          autoStopMinutes: 15,
          autoArchiveMinutes: 10_080,
          autoDeleteMinutes: -1,
          deadline: { at: 7, action: 'delete' },
          sleep: { afterSeconds: 60, wakes: false },
          lastActivityAt: 1_000,
          stoppedAt: 5,
        },
      ]);
    });

    it('lists the archives that rows name, page by page', async () => {
      const local = { store: 'local', digest: 'd', hmac: 'h', sizeBytes: 1 } as const;
      const remote = { ...local, store: 's3', bucket: 'b', key: 'k' } as const;
      const named = await insert({ archive: local }, { archive: remote }, { archive: local });
      await insert({ archive: null });
      const sorted = named.map(({ id, archive }) => ({ id, archive })).sort((a, b) => (a.id < b.id ? -1 : 1));
      const first = await store.sandboxes.archives('', 2);
      expect(first).toEqual(sorted.slice(0, 2));
      expect(await store.sandboxes.archives(first[1]?.id ?? '', 2)).toEqual(sorted.slice(2));
      expect(await store.sandboxes.archives(sorted[2]?.id ?? '', 2)).toEqual([]);
    });

    it('moves activity forward only', async () => {
      const [a, b] = await insert({ lastActivityAt: 100 }, { lastActivityAt: 100 });
      await store.sandboxes.touch(
        new Map([
          [a?.id ?? '', 150],
          [b?.id ?? '', 50],
          ['sb_gone', 1],
        ]),
      );
      await store.sandboxes.touch(new Map());
      expect((await store.sandboxes.all()).map((box) => box.lastActivityAt)).toEqual([150, 100]);
    });

    it('changes a row that is unused since a time only when it is', async () => {
      const box = await insertOne({ generation: 3, lastActivityAt: 5_000 });
      const stop = { operation: 'stopping', generation: 4 } as const;
      expect(await store.sandboxes.update(box.id, 3, stop, undefined, 4_999)).toBeNull();
      expect(await store.sandboxes.update(box.id, 3, stop, undefined, 5_000)).toMatchObject(stop);
      expect(await store.sandboxes.inProgress('', 10)).toEqual([
        { id: box.id, operation: 'stopping', holder: null, generation: 4 },
      ]);
    });

    it('shows those with an operation, and all, page by page in the order of their ids', async () => {
      const boxes = await insert({}, { operation: 'stopping' }, { operation: 'starting' }, {});
      const ids = boxes.map(({ id }) => id).sort();
      const busy = [boxes[1]?.id ?? '', boxes[2]?.id ?? ''].sort();
      const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id);
      expect(idsOf(await store.sandboxes.comparable('', 3))).toEqual(ids.slice(0, 3));
      expect(idsOf(await store.sandboxes.comparable(ids[2] ?? '', 3))).toEqual(ids.slice(3));
      expect(idsOf(await store.sandboxes.inProgress('', 1))).toEqual(busy.slice(0, 1));
      expect(idsOf(await store.sandboxes.inProgress(busy[0] ?? '', 10))).toEqual(busy.slice(1));
      expect(await store.sandboxes.inProgress(busy[1] ?? '', 10)).toEqual([]);
      const {
        state,
        stateReason,
        operation,
        ownerId,
        imageDigest,
        generation,
        runGeneration,
        network,
        secretIds,
      } = (await store.sandboxes.get(ids[0] ?? '')) ?? expect.fail('no row');
      expect(await store.sandboxes.comparable('', 1)).toEqual([
        {
          id: ids[0],
          state,
          stateReason,
          operation,
          ownerId,
          imageDigest,
          generation,
          runGeneration,
          network,
          secretIds,
        },
      ]);
    });

    it('changes nothing else with activity', async () => {
      const box = await insertOne({ generation: 3 });
      await store.sandboxes.touch(new Map([[box.id, 9_999]]));
      expect(await store.sandboxes.get(box.id)).toEqual({ ...box, lastActivityAt: 9_999 });
    });
  });

  describe(`${name}: answers of idempotent calls`, () => {
    it('[WIRE-HTTP-10] come back by owner and key', async () => {
      const result = { id: 'sb_1', nested: [1, null, 'é\0'] };
      await store.idempotency.put(alice.id, 'key', 'digest', result, 1_000);
      expect(await store.idempotency.get(alice.id, 'key')).toEqual({ requestDigest: 'digest', result });
      expect(await store.idempotency.get(bob.id, 'key')).toBeNull();
      expect(await store.idempotency.get(alice.id, 'other')).toBeNull();
    });

    it('are worked at by one replica at a time, and by another one where it has died', async () => {
      const hold = (replica: string, dead: string | null = null) =>
        store.idempotency.hold(alice.id, 'key', replica, dead);
      expect(await hold('rep_1')).toBe('rep_1');
      expect(await hold('rep_2')).toBe('rep_1');
      expect(await store.idempotency.hold(bob.id, 'key', 'rep_2', null)).toBe('rep_2');
      await store.idempotency.release(alice.id, 'key', 'rep_2');
      expect(await hold('rep_2')).toBe('rep_1');
      expect(await hold('rep_2', 'rep_3')).toBe('rep_1');
      expect(await hold('rep_2', 'rep_1')).toBe('rep_2');
      await store.idempotency.release(alice.id, 'key', 'rep_2');
      expect(await hold('rep_1')).toBe('rep_1');
    });

    it('stay as they were first given', async () => {
      await store.idempotency.put(alice.id, 'key', 'first', 1, 1_000);
      await store.idempotency.put(alice.id, 'key', 'second', 2, 2_000);
      expect(await store.idempotency.get(alice.id, 'key')).toEqual({ requestDigest: 'first', result: 1 });
    });

    it('are 4,096 of one owner: the oldest goes, and nobody else’s', async () => {
      await store.idempotency.put(bob.id, 'of bob', 'd', 0, 1);
      const put = (at: number) => store.idempotency.put(alice.id, `key ${at}`, 'd', at, 1_000 + at);
      await mapBounded(
        Array.from({ length: 4_097 }, (_, at) => at),
        512,
        put,
      );
      expect(await store.idempotency.get(alice.id, 'key 0')).toBeNull();
      for (const at of [1, 4_096]) {
        expect(await store.idempotency.get(alice.id, `key ${at}`)).toEqual({
          requestDigest: 'd',
          result: at,
        });
      }
      expect(await store.idempotency.get(bob.id, 'of bob')).toEqual({ requestDigest: 'd', result: 0 });
    }, 60_000);

    it('go once they are older than the given time', async () => {
      await store.idempotency.put(alice.id, 'old', 'd', 1, 999);
      await store.idempotency.put(alice.id, 'new', 'd', 2, 1_000);
      await store.idempotency.prune(1_000);
      expect(await store.idempotency.get(alice.id, 'old')).toBeNull();
      expect(await store.idempotency.get(alice.id, 'new')).toEqual({ requestDigest: 'd', result: 2 });
    });
  });

  accessConformance(name, () => store);
  peopleConformance(name, () => store);
  everybodyConformance(name, () => store);
  webhookConformance(name, () => store);
  teamConformance(name, () => store);
  auditConformance(name, () => store);
  registryConformance(name, () => store);
  buildStepConformance(name, () => store);
  secretConformance(name, () => store);
  ownerNetworkConformance(name, () => store);
  serviceSecretConformance(name, () => store);
  waysInConformance(name, () => store);
  userDeletionConformance(name, () => store);
  signInConformance(name, () => store);
  deviceSignInConformance(name, () => store);
  credentialConformance(name, () => store);
  identityConformance(name, () => store);
  oauthConformance(name, () => store);
  quotaConformance(name, () => store);
  describe(`${name}: credentials of Git remotes`, () => {
    const at = (sandboxId: string, url = 'https://h/a', password = 'p\0é"') => ({
      sandboxId,
      url,
      username: 'u',
      password,
    });

    it('are found by sandbox and URL exactly, and replaced', async () => {
      const [a, b] = await insert({}, {});
      if (!a || !b) throw new Error('nothing was inserted');
      await store.gitCredentials.put(at(a.id));
      await store.gitCredentials.put(at(a.id, 'https://h/b'));
      expect(await store.gitCredentials.get(a.id, 'https://h/a')).toEqual(at(a.id));
      expect(await store.gitCredentials.get(b.id, 'https://h/a')).toBeNull();
      for (const url of ['https://h/A', 'https://h/a/', 'https://h', '']) {
        expect(await store.gitCredentials.get(a.id, url), url).toBeNull();
      }
      await store.gitCredentials.put({ ...at(a.id, 'https://h/a', 'new'), username: 'other' });
      expect(await store.gitCredentials.get(a.id, 'https://h/a')).toMatchObject({
        username: 'other',
        password: 'new',
      });
      expect(await store.gitCredentials.count(a.id)).toBe(2);
      expect(await store.gitCredentials.count(b.id)).toBe(0);
      await store.gitCredentials.put(at(b.id));
      await store.gitCredentials.remove(a.id);
      expect(await store.gitCredentials.get(a.id, 'https://h/a')).toBeNull();
      expect([await store.gitCredentials.count(a.id), await store.gitCredentials.count(b.id)]).toEqual([
        0, 1,
      ]);
    });

    it('go with their sandbox, and come for none that is gone', async () => {
      const box = await insertOne();
      await store.gitCredentials.put(at(box.id));
      await store.sandboxes.remove(box.id, box.generation);
      expect(await store.gitCredentials.get(box.id, 'https://h/a')).toBeNull();
      expect(await store.gitCredentials.count(box.id)).toBe(0);
      await expect(store.gitCredentials.put(at(box.id))).rejects.toMatchObject({ code: 'not_found' });
    });

    it('are bounded for a sandbox, and one that is there can still be replaced', async () => {
      const box = await insertOne();
      for (let n = 0; n < GIT_CREDENTIALS; n++) {
        await store.gitCredentials.put(at(box.id, `https://h/${n}`));
      }
      await expect(store.gitCredentials.put(at(box.id, 'https://h/more'))).rejects.toMatchObject({
        code: 'resource_exhausted',
      });
      await store.gitCredentials.put(at(box.id, 'https://h/0', 'new'));
      expect(await store.gitCredentials.get(box.id, 'https://h/0')).toMatchObject({ password: 'new' });
    });
  });

  describe(`${name}: sessions`, () => {
    const kept = (commandId: string, output: string) => ({
      ...{ commandId, exitCode: 3, output, stdout: output, stderr: '', truncated: false, nextOffset: 9 },
    });

    it('are known by sandbox and id once they were noted, and go with their sandbox', async () => {
      const [a, b] = await insert({}, {});
      if (!a || !b) throw new Error('nothing was inserted');
      expect(await store.sessions.knows(a.id)).toBe(false);
      await store.sessions.note(a.id, 'one', 1);
      await store.sessions.note(a.id, 'one', 2);
      expect(await store.sessions.knows(a.id)).toBe(true);
      expect(await store.sessions.knows(a.id, 'one')).toBe(true);
      expect(await store.sessions.knows(a.id, 'One')).toBe(false);
      expect(await store.sessions.knows(b.id, 'one')).toBe(false);
      await store.sandboxes.remove(a.id, a.generation);
      expect(await store.sessions.knows(a.id, 'one')).toBe(false);
      await store.sessions.note(a.id, 'late', 3);
      expect(await store.sessions.knows(a.id)).toBe(false);
    });

    it('have logs until those are dropped, or another session takes the id', async () => {
      const box = await insertOne();
      for (const id of ['one', 'two']) await store.sessions.note(box.id, id, 1);
      const logs = [kept('cmd_1', 'a\0é\n'), kept('cmd_2', '')];
      await store.sessions.keepLogs(
        box.id,
        new Map([
          ['one', logs],
          ['two', logs],
          ['never', logs],
        ]),
      );
      expect(await store.sessions.logs(box.id, 'one')).toEqual(logs);
      expect(await store.sessions.logs(box.id, 'never')).toEqual([]);
      await store.sessions.note(box.id, 'one', 2);
      expect(await store.sessions.logs(box.id, 'one')).toEqual([]);
      await store.sessions.dropLogs(box.id);
      expect(await store.sessions.logs(box.id, 'two')).toEqual([]);
      expect(await store.sessions.knows(box.id, 'two')).toBe(true);
    });

    it('are bounded for a sandbox: the newest 256 are known', async () => {
      const box = await insertOne();
      for (let n = 0; n <= 256; n++) await store.sessions.note(box.id, `s${n}`, n);
      expect(await store.sessions.knows(box.id, 's0')).toBe(false);
      expect(await store.sessions.knows(box.id, 's1')).toBe(true);
      expect(await store.sessions.knows(box.id, 's256')).toBe(true);
    });
  });
}
