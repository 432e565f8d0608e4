/** Comparison of rows with machines among replicas: a fault is mended at the second look, an interval after the first. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Unfinished } from '../../../src/concurrency/unfinished.ts';
import type { Machines } from '../../../src/control/lifecycle/machines.ts';
import type { Watches } from '../../../src/control/lifecycle/watches.ts';
import type { Observed, SandboxStore } from '../../../src/control/ports/index.ts';
import { Comparison } from '../../../src/control/replicas/comparison.ts';
import { createAlone } from '../../../src/store/rows/alone.ts';
import { poolRecord, sandboxRecord } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

let store: SandboxStore;
let traces: Observed[];
/** Steps in the order of their beginnings, such as `destroy sb_1`. */
let steps: string[];
/** Tells that replicas have come or gone. */
let changed: () => void;
let keepsInPool: boolean;

beforeEach(() => {
  vi.useFakeTimers();
  store = memoryStore().sandboxes;
  traces = [];
  steps = [];
  keepsInPool = true;
});

afterEach(() => {
  vi.useRealTimers();
});

const step = (name: string) => async (subject: string | { id: string }) =>
  void steps.push(`${name} ${typeof subject === 'string' ? subject : subject.id}`);
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** Begins with a look. */
async function open(): Promise<Comparison> {
  const comparison = new Comparison({
    store,
    runtime: { observe: async () => traces, destroy: step('destroy') },
    machines: {
      adopt: step('adopt'),
      exited: step('exited'),
      end: step('end'),
      retire: step('retire'),
    } as unknown as Machines,
    watches: { has: () => false, end() {} } satisfies Pick<Watches, 'has' | 'end'>,
    replicas: {
      ...createAlone(),
      onChange(listener) {
        changed = listener;
      },
    },
    unfinished: new Unfinished(() => {}),
    log: { info() {}, warn() {}, error() {} },
    keepsInPool: () => keepsInPool,
    onLook: async () => {},
  });
  comparison.begin();
  await pass(0);
  return comparison;
}

const trace = (id: string, runningGeneration: number | null): Observed => ({
  ...{ id, runningGeneration, hasDisk: true, hasArchive: false },
});

it.each([
  ['a machine that is lost', 'exited sb_1', sandboxRecord({ id: 'sb_1', runGeneration: 1 }), []],
  ['a machine of a stopped sandbox', 'end sb_1', sandboxRecord({ id: 'sb_1', state: 'stopped' }), [1]],
  ['what has no row', 'destroy sb_1', null, [1]],
] as const)('mends after an interval: %s', async (_, mended, row, running) => {
  if (row) await store.insert({ ...row, runGeneration: row.state === 'started' ? 1 : null });
  traces = running.map((generation) => trace('sb_1', generation));
  await open();
  await pass(19_999);
  expect(steps).toEqual([]);
  await pass(1);
  expect(steps).toEqual([mended]);
});

it('mends nothing sooner, however often replicas come and go', async () => {
  traces = [trace('sb_1', 1)];
  await open();
  for (let time = 0; time < 19_000; time += 1_000) {
    changed();
    await pass(1_000);
  }
  expect(steps).toEqual([]);
  await pass(1_000);
  expect(steps).toEqual(['destroy sb_1']);
});

it('does not count a look in between as the first', async () => {
  await open();
  await pass(19_000);
  traces = [trace('sb_1', 1)];
  changed();
  await pass(1_000);
  expect(steps).toEqual([]);
  await pass(20_000);
  expect(steps).toEqual(['destroy sb_1']);
});

it('begins anew when a look in between finds no fault', async () => {
  traces = [trace('sb_1', 1)];
  await open();
  const found = traces;
  traces = [];
  changed();
  await pass(1_000);
  traces = found;
  await pass(19_000);
  expect(steps).toEqual([]);
});

it('adopts and retires at each look', async () => {
  await open();
  await store.insert(sandboxRecord({ id: 'sb_1', runGeneration: 1 }));
  await store.insert(poolRecord({ id: 'sb_2', runGeneration: 1 }));
  traces = [trace('sb_1', 1), trace('sb_2', 1)];
  keepsInPool = false;
  changed();
  await pass(0);
  expect(steps.toSorted()).toEqual(['adopt sb_1', 'retire sb_2']);
});

it('looks no more after its end', async () => {
  const comparison = await open();
  await comparison.close();
  await store.insert(sandboxRecord({ id: 'sb_1', runGeneration: 1 }));
  traces = [trace('sb_1', 1)];
  changed();
  await pass(60_000);
  expect(steps).toEqual([]);
});
