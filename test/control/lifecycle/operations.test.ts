/** Settlement of operations whose work fails half-way. */
import { beforeEach, describe, expect, it } from 'vitest';
import { Operations, type OperationsDependencies } from '../../../src/control/lifecycle/operations.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import type { Resources } from '../../../src/model/sandbox.ts';
import { createAlone } from '../../../src/store/rows/alone.ts';
import { alice, poolRecord, sandboxRecord } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

const sizes = { cpu: 2, memory: 4, disk: 20, gpu: 0 };
const larger = { cpu: 4, memory: 8, disk: 20, gpu: 0 };
const signal = new AbortController().signal;

let store: OperationsDependencies['store'];
/** Sizes that the machine was given, and those that failed to reach it. */
let given: Resources[];
/** Errors of the next live resizes; undefined: it succeeds. */
let failures: (string | undefined)[];
let later: string[];
let operations: Operations;
/** Error of an archive, and of a restore. */
let archives: Error;
/** Sandboxes whose machines are no longer watched. */
let unwatched: string[];
/** Messages of the log. */
let errors: string[];

beforeEach(() => {
  store = memoryStore().sandboxes;
  given = [];
  failures = [];
  later = [];
  unwatched = [];
  errors = [];
  operations = new Operations({
    store,
    runtime: {
      resizeLive: async (_: string, resources: Resources) => {
        given.push(resources);
        const failure = failures.shift();
        if (failure) throw new Error(failure);
      },
      growDisk: async () => Promise.reject(new Error('no room')),
      inspect: async () => ({ runningGeneration: 1 }),
      archive: () => Promise.reject(archives),
      restore: () => Promise.reject(archives),
      ...{ stop: async () => {}, dropArchive: async () => {}, dropDisk: async () => {} },
    },
    watches: { begin() {}, end: (id: string) => void unwatched.push(id), has: () => true },
    replicas: createAlone(),
    activity: {},
    clock: { now: () => 1_000 },
    log: { info() {}, warn() {}, error: (message: string) => void errors.push(message) },
    finishLater: (id: string) => later.push(id),
    exited: async () => {},
  } as unknown as OperationsDependencies);
});

describe('a store of archives that is away', () => {
  const archive = { store: 's3', bucket: 'b', key: 'k', digest: 'd', hmac: 'h', sizeBytes: 1 } as const;
  const away = new SandhavenError('unavailable', 'The archive store cannot be used.', { retryable: true });
  const damaged = new SandhavenError('unavailable', 'The archive is damaged.', { retryable: false });

  it.each([
    ['archiving', 'stopped', null, away, 'stopped', null],
    ['archiving', 'stopped', null, new Error('tar failed'), 'error', null],
    ['restoring', 'archived', archive, away, 'archived', archive],
    ['restoring', 'error', archive, away, 'error', archive],
    ['restoring', 'archived', archive, damaged, 'error', archive],
  ] as const)(
    '[WIRE-STATE-10] leaves a sandbox as it was: %s from %s, archive %o, %s',
    async (operation, state, before, error, settled, after) => {
      archives = error;
      const row = sandboxRecord({ id: 'sb_1', state, operation, generation: 2, archive: before });
      await store.insert(row);
      await expect(operations.carryOut(row, signal)).rejects.toBe(error);
      expect(await store.get('sb_1')).toMatchObject({ state: settled, operation: null, archive: after });
      expect(later).toEqual([]);
    },
  );
});

it.each([
  ['is an error in the log', signal, ['operation failed']],
  ['is none when a delete broke it off', AbortSignal.abort(), []],
])('an archive that fails %s', async (_what, given, logged) => {
  archives = new Error('tar ended');
  const row = sandboxRecord({ id: 'sb_1', state: 'stopped', operation: 'archiving', generation: 2 });
  await store.insert(row);
  await expect(operations.carryOut(row, given)).rejects.toThrow();
  expect(errors).toEqual(logged);
});

it.each(['archiving', 'starting'] as const)(
  'stays stored when the stop of its process breaks it off: %s',
  async (operation) => {
    archives = new Error('canceled');
    const row = sandboxRecord({ id: 'sb_1', state: 'stopped', operation, generation: 2 });
    await store.insert(row);
    operations.leave();
    await expect(operations.carryOut(row, signal)).rejects.toThrow();
    expect(await store.get('sb_1')).toMatchObject({ state: 'stopped', operation, generation: 2 });
  },
);

describe('a live resize', () => {
  const resizing = () =>
    sandboxRecord({
      ...{ id: 'sb_1', state: 'started', generation: 2, runGeneration: 1 },
      ...{ operation: 'resizing', resources: sizes, resizeTarget: larger },
    });

  async function resize() {
    const row = resizing();
    await store.insert(row);
    await operations.carryOut(row, signal);
  }

  it('[WIRE-RESIZE-02] is undone when it fails half-way, and rejects with its own error', async () => {
    failures = ['no memory'];
    await expect(resize()).rejects.toThrow('no memory');
    expect(given).toEqual([larger, sizes]);
    expect(await store.get('sb_1')).toMatchObject({
      ...{ state: 'started', operation: null, resources: sizes, resizeTarget: null },
    });
    expect(later).toEqual([]);
  });

  it('stays stored while it can neither be done nor undone, and is finished later', async () => {
    failures = ['no memory', 'no host'];
    await expect(resize()).rejects.toThrow('no memory');
    expect(await store.get('sb_1')).toMatchObject({ operation: 'resizing', resizeTarget: larger });
    expect(later).toEqual(['sb_1']);
    await operations.finish(resizing(), signal);
    expect(given).toEqual([larger, sizes, larger]);
    expect(await store.get('sb_1')).toMatchObject({ operation: null, resources: larger, resizeTarget: null });
  });

  it('has nothing to undo where the sandbox is stopped', async () => {
    const resizeTarget = { ...larger, disk: 30 };
    const row = { ...resizing(), state: 'stopped', runGeneration: null, resizeTarget } as const;
    await store.insert(row);
    await expect(operations.carryOut(row, signal)).rejects.toThrow('no room');
    expect(given).toEqual([]);
    expect(await store.get('sb_1')).toMatchObject({ state: 'stopped', operation: null, resources: sizes });
  });
});

it('the end of a pool sandbox’s machine leaves alone what a caller has claimed since it was read', async () => {
  const pooled = poolRecord({ id: 'sb_1', imageDigest: 'sha256:base' });
  await store.insert(pooled);
  const match = { imageDigest: 'sha256:base', diskGb: pooled.resources.disk };
  const claimed = await store.claim(match, { ownerId: alice.id, name: 'mine' });
  const lost = operations.lose(pooled, { type: 'exited', reason: 'It ended.' });
  await expect(lost).rejects.toMatchObject({ code: 'invalid_state' });
  await expect(operations.abandon(pooled)).rejects.toMatchObject({ code: 'invalid_state' });
  expect(await store.get('sb_1')).toEqual(claimed);
});

it('a machine on a lost node stays watched until its sandbox is settled', async () => {
  const row = sandboxRecord({ id: 'sb_1', state: 'started', generation: 2, runGeneration: 2 });
  await store.insert(row);
  const { update } = store;
  store.update = () => Promise.reject(new Error('full'));
  await expect(operations.abandon(row)).rejects.toThrow('full');
  expect(unwatched).toEqual([]);
  store.update = update;
  await operations.abandon(row);
  expect(unwatched).toEqual(['sb_1']);
  expect(await store.get('sb_1')).toMatchObject({ state: 'error', runGeneration: null });
});
