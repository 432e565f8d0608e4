/** Reconciliation at the service's start: rows and machines agree afterwards, and one failure harms no other sandbox. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { Unfinished } from '../../../src/concurrency/unfinished.ts';
import type { Machines } from '../../../src/control/lifecycle/machines.ts';
import { reconcile } from '../../../src/control/lifecycle/reconciler.ts';
import type { Observed, Runtime, SandboxStore } from '../../../src/control/ports/index.ts';
import type { Sandbox } from '../../../src/model/sandbox.ts';
import { poolRecord, sandboxRecord } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

const archive = { store: 'local', digest: 'd', hmac: 'h', sizeBytes: 1 } as const;
const GONE = 'Its machine ended while the service was away.';

let store: SandboxStore;
let traces: Observed[];
/** Steps in the order of their beginnings, such as `destroy sb_1`. */
let steps: string[];
/** Work of single steps; the others do nothing. */
let during: Record<string, () => Promise<void>>;
let errors: unknown[];
let keepsInPool: boolean;
let unfinished: Unfinished;

beforeEach(() => {
  store = memoryStore().sandboxes;
  traces = [];
  steps = [];
  during = {};
  errors = [];
  keepsInPool = true;
  unfinished = new Unfinished((work) => errors.push(work));
});

function step(name: string) {
  return async (subject: string | Sandbox, ...rest: unknown[]): Promise<void> => {
    const words = [name, typeof subject === 'string' ? subject : subject.id, ...rest].join(' ');
    steps.push(words);
    await during[words]?.();
  };
}

function start(): Promise<void> {
  return reconcile({
    store,
    runtime: {
      observe: async () => traces,
      destroy: step('destroy'),
      dropDisk: step('dropDisk'),
      dropArchive: step('dropArchive'),
    } as unknown as Runtime,
    machines: {
      adopt: step('adopt'),
      recall: step('recall'),
      exited: step('exited'),
      discard: step('discard'),
      end: step('end'),
      retire: step('retire'),
      finish: step('finish'),
    } as unknown as Machines,
    unfinished,
    log: { info() {}, warn() {}, error: (_, context) => void errors.push(context?.['sandbox']) },
    keepsInPool: () => keepsInPool,
  });
}

/** Stores a row, and leaves a trace of it on the host. */
async function have(row: Sandbox, trace?: Partial<Observed>): Promise<void> {
  await store.insert(row);
  if (trace)
    traces.push({ ...{ id: row.id, runningGeneration: null, hasDisk: true, hasArchive: false }, ...trace });
}

const box = (overrides: Partial<Sandbox> = {}) => sandboxRecord({ id: 'sb_1', ...overrides });
const stopped = (overrides: Partial<Sandbox> = {}) =>
  box({ state: 'stopped', runGeneration: null, ...overrides });
const broken = async () => {
  throw new Error('broken');
};

describe('a started sandbox', () => {
  it('is adopted when its machine runs, also one resized since its start', async () => {
    await have(box({ generation: 5, runGeneration: 3 }), { runningGeneration: 3 });
    await start();
    expect(steps).toEqual(['adopt sb_1']);
  });

  it.each([
    ['without a trace', undefined],
    ['with a disk alone', { runningGeneration: null }],
    ['with a machine of another generation', { runningGeneration: 2 }],
  ])('[WIRE-STATE-09] %s has lost its machine, and gets the reason', async (_, trace) => {
    await have(box({ generation: 5, runGeneration: 3 }), trace);
    await start();
    expect(steps).toEqual([`exited sb_1 3 ${GONE}`]);
  });
});

describe('a sandbox that is not started', () => {
  it.each(['stopped', 'archived', 'error'] as const)(
    'loses a running machine when it is %s',
    async (state) => {
      await have(stopped({ state, archive: state === 'archived' ? archive : null }), {
        runningGeneration: 3,
      });
      await start();
      expect(steps).toEqual(['end sb_1']);
    },
  );

  it('keeps for now a machine whose node does not answer', async () => {
    await have(stopped({ state: 'error' }), { runningGeneration: 3, unreachable: true });
    await start();
    expect(steps).toEqual([]);
  });

  it.each([
    ['archived', archive, true, true, ['dropDisk sb_1']],
    ['archived', archive, true, false, []],
    ['archived', archive, false, true, []],
    ['stopped', null, true, true, ['dropArchive sb_1']],
    ['stopped', null, false, true, []],
    ['stopped', null, true, false, []],
    ['error', null, true, true, ['dropArchive sb_1']],
    ['error', archive, true, true, []],
  ] as const)(
    'loses a spare copy of its disk only beside the copy in its row: %s, record %o, disk %s, archive %s',
    async (state, record, hasDisk, hasArchive, expected) => {
      await have(stopped({ state, archive: record }), { hasDisk, hasArchive });
      await start();
      expect(steps).toEqual(expected);
    },
  );
});

describe('a row that no caller has seen', () => {
  it.each([null, 1])(
    'is discarded while it is being created, its machine at generation %s',
    async (runningGeneration) => {
      await have(stopped({ operation: 'creating' }), { runningGeneration });
      await start();
      expect(steps).toEqual(['discard sb_1']);
    },
  );

  it.each([
    ['stays in the warm pool with a running machine', 1, true, 'adopt sb_1'],
    ['has lost its machine in the warm pool', null, true, `exited sb_1 1 ${GONE}`],
    ['is retired from a warm pool that has no use for it', 1, false, 'retire sb_1'],
    ['is retired from such a pool without a machine, too', null, false, 'retire sb_1'],
  ])('%s; a sandbox with an owner stays', async (_, runningGeneration, keeps, expected) => {
    keepsInPool = keeps;
    await have(poolRecord({ id: 'sb_1' }), { runningGeneration });
    await have(sandboxRecord({ id: 'sb_2' }), { runningGeneration: 1 });
    await start();
    expect(steps).toEqual([expected, 'adopt sb_2']);
  });
});

it('a trace without a row is destroyed; sandboxes with a row stay', async () => {
  await have(stopped(), {});
  traces.push({ id: 'sb_orphan', runningGeneration: null, hasDisk: false, hasArchive: true });
  await start();
  expect(steps).toEqual(['destroy sb_orphan']);
});

it('a trace that cannot be destroyed stops no start of the service, and is tried again', async () => {
  await have(box(), { runningGeneration: 1 });
  traces.push({ id: 'sb_orphan', runningGeneration: null, hasDisk: true, hasArchive: false });
  during['destroy sb_orphan'] = broken;
  await start();
  expect(steps).toEqual(['destroy sb_orphan', 'adopt sb_1']);
  expect(errors).toEqual(['remove sb_orphan']);
  await unfinished.turn();
  expect(steps.at(-1)).toBe('destroy sb_orphan');
});

describe('an unfinished operation', () => {
  it.each(['starting', 'stopping', 'archiving', 'restoring', 'resizing', 'deleting'] as const)(
    'is finished, and nothing else is done to a machine that does not run: %s',
    async (operation) => {
      await have(box({ operation }), { hasArchive: true });
      await start();
      expect(steps).toEqual(['finish sb_1']);
    },
  );

  it.each(['stopping', 'resizing', 'deleting'] as const)(
    'goes on with the owner and the network of a machine that runs: %s',
    async (operation) => {
      await have(box({ operation }), { runningGeneration: 1 });
      await start();
      expect(steps).toEqual(['recall sb_1', 'finish sb_1']);
    },
  );

  it('begins after all settled sandboxes are reconciled, and holds up no start of the service', async () => {
    await have(box({ operation: 'deleting' }));
    await have(sandboxRecord({ id: 'sb_2' }), { runningGeneration: 1 });
    during['adopt sb_2'] = async () => {
      await nextTurn();
      steps.push('adopted');
    };
    during['finish sb_1'] = () => new Promise(() => {});
    await start();
    expect(steps).toEqual(['adopt sb_2', 'adopted', 'finish sb_1']);
  });
});

it('a sandbox that cannot be reconciled is logged, and stops no other', async () => {
  for (let number = 1; number <= 20; number++) {
    await have(sandboxRecord({ id: `sb_${number}` }), { runningGeneration: 1 });
    if (number < 20) during[`adopt sb_${number}`] = broken;
  }
  await have(sandboxRecord({ id: 'sb_unfinished', operation: 'stopping' }));
  await start();
  expect(steps).toContain('adopt sb_20');
  expect(steps).toContain('finish sb_unfinished');
  expect(errors).toHaveLength(19);
});
