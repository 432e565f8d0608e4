/** Settlement of operations whose work fails half-way. */
import { beforeEach, describe, expect, it } from 'vitest';
import { Operations, type OperationsDependencies } from '../../../src/control/lifecycle/operations.ts';
import type { Resources } from '../../../src/model/sandbox.ts';
import { sandboxRecord } from '../../store/fixtures.ts';
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

beforeEach(() => {
  store = memoryStore().sandboxes;
  given = [];
  failures = [];
  later = [];
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
    },
    watches: { begin() {}, end() {}, has: () => true },
    activity: {},
    clock: { now: () => 1_000 },
    log: { info() {}, warn() {}, error() {} },
    finishLater: (id: string) => later.push(id),
    exited: async () => {},
  } as unknown as OperationsDependencies);
});

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
