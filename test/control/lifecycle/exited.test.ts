/** Ends of machines as they are reported and as the runtime sees them once the sandbox has its turn; turns of rows that are being claimed. */
import { beforeEach, describe, expect, it } from 'vitest';
import { Unfinished } from '../../../src/concurrency/unfinished.ts';
import { Machines, type MachinesDependencies } from '../../../src/control/lifecycle/machines.ts';
import { createOperationQueue } from '../../../src/control/turns/operation-queue.ts';
import { OtherReplicas } from '../../../src/control/turns/other-replicas.ts';
import { createAlone } from '../../../src/store/rows/alone.ts';
import { sandboxRecord } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

let store: MachinesDependencies['store'];
let machines: Machines;
/** The generation whose machine runs. */
let running: number | null;
let watched: string[];
let stopped: string[];

beforeEach(() => {
  store = memoryStore().sandboxes;
  watched = [];
  stopped = [];
  const log = { info() {}, warn() {}, error() {} };
  const replicas = createAlone();
  machines = new Machines({
    ...{ store, log, replicas, nodeLoss: null },
    runtime: {
      inspect: async () => ({ runningGeneration: running }),
      stop: async (id: string) => void stopped.push(id),
      destroy: async (id: string) => void stopped.push(id),
    },
    queue: createOperationQueue(),
    others: new OtherReplicas(replicas, store),
    unfinished: new Unfinished((_key, error) => expect.fail(String(error))),
    watches: { begin: (id: string) => void watched.push(id), end() {}, has: () => false },
    activity: { forget() {} },
    away: { has: () => false },
    clock: { now: () => 1_000 },
  } as unknown as MachinesDependencies);
});

describe.each([
  ['a sandbox', {}],
  ['an ephemeral sandbox', { ephemeral: true }],
  ['a sandbox of the warm pool', { ownerId: null }],
])('%s whose machine is reported to have ended', (_which, fields) => {
  const started = { id: 'sb_1', state: 'started', generation: 4, runGeneration: 3, operation: null } as const;

  it('stays as it is when the machine runs, and is watched again', async () => {
    await store.insert(sandboxRecord({ ...started, ...fields }));
    running = 3;
    await machines.exited('sb_1', 3, 'It was not seen.');
    expect(await store.get('sb_1')).toMatchObject({ state: 'started', generation: 4, runGeneration: 3 });
    expect({ watched, stopped }).toEqual({ watched: ['sb_1'], stopped: [] });
  });

  it('is settled when it has ended', async () => {
    await store.insert(sandboxRecord({ ...started, ...fields }));
    running = null;
    await machines.exited('sb_1', 3, 'It ended.');
    const row = await store.get('sb_1');
    if (Object.keys(fields).length > 0) expect(row).toBeNull();
    else expect(row).toMatchObject({ state: 'stopped', stateReason: 'It ended.', runGeneration: null });
    expect(watched).toEqual([]);
  });
});

it('a turn that comes between the claim of a warm sandbox and its own turn leaves the sandbox alone', async () => {
  const claimed = {
    id: 'sb_1',
    state: 'started',
    generation: 2,
    runGeneration: 1,
    operation: 'creating',
  } as const;
  await store.insert(sandboxRecord(claimed));
  const change = machines.change('sb_1', () => ({ labels: {} }));
  await expect(change).rejects.toMatchObject({ code: 'unavailable', fields: { retryable: true } });
  expect(await store.get('sb_1')).toMatchObject(claimed);
  expect(stopped).toEqual([]);
});
