/** Operations that other replicas have left: each is finished once, and none is begun after the end. */
import { beforeEach, expect, it } from 'vitest';
import type { Replicas, SandboxStore } from '../../../src/control/ports/index.ts';
import { TakeOver } from '../../../src/control/replicas/take-over.ts';
import { OtherReplicas } from '../../../src/control/turns/other-replicas.ts';
import { createAlone } from '../../../src/store/rows/alone.ts';
import { sandboxRecord } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

let store: SandboxStore;
let finished: string[];
/** Tells that replicas have come or gone. */
let changed: () => void;
/** Awaited by each operation. */
let work: Promise<void>;

beforeEach(() => {
  store = memoryStore().sandboxes;
  finished = [];
  work = Promise.resolve();
});

function open(): TakeOver {
  const replicas: Replicas = {
    ...createAlone(),
    ...{ shared: true, id: 'here' },
    onChange: (listener) => {
      changed = listener;
    },
  };
  return new TakeOver({
    store,
    replicas,
    others: new OtherReplicas(replicas, store),
    finish: (id) => {
      finished.push(id);
      return work;
    },
    log: { info() {}, warn() {}, error() {} },
  });
}

const left = (id: string, holder: string | null) =>
  store.insert(sandboxRecord({ id, name: id, operation: 'stopping', holder }));

it('finishes what a replica has left that is gone, and leaves its own alone', async () => {
  await left('sb_1', 'gone');
  await left('sb_2', 'here');
  await open().turn();
  expect(finished).toEqual(['sb_1']);
});

it('finishes an operation once at a time', async () => {
  await left('sb_1', 'gone');
  work = new Promise(() => {});
  const takeOver = open();
  await takeOver.turn();
  await takeOver.turn();
  expect(finished).toEqual(['sb_1']);
});

it('begins none after its end, also when a replica goes while it waits', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  await left('sb_1', 'gone');
  work = promise;
  const takeOver = open();
  takeOver.begin();
  changed();
  await expect.poll(() => finished).toEqual(['sb_1']);
  const closing = takeOver.close();
  await left('sb_2', 'gone');
  changed();
  await new Promise((next) => setTimeout(next, 10));
  resolve();
  await closing;
  expect(finished).toEqual(['sb_1']);
});
