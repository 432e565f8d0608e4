/** Sandboxes of nodes that do not answer: when they are in error, and what follows once the node is back or gone. */
import { beforeEach, expect, it } from 'vitest';
import { AwayMachines } from '../../../src/control/base/away-machines.ts';
import { LostNodes } from '../../../src/control/lifecycle/lost-nodes.ts';
import type { Observed, SandboxStore } from '../../../src/control/ports/index.ts';
import { LOST_REASON } from '../../../src/model/lost-node.ts';
import { poolRecord, sandboxRecord } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

let store: SandboxStore;
let traces: Observed[];
let away: AwayMachines;
/** Steps in the order of their beginnings, such as `end sb_1`. */
let steps: string[];
let refuses: boolean;

const lost = { state: 'error', stateReason: LOST_REASON, runGeneration: null } as const;

beforeEach(() => {
  store = memoryStore().sandboxes;
  traces = [];
  steps = [];
  away = new AwayMachines();
  refuses = false;
});

function open(restarts = false): LostNodes {
  const step =
    <T>(name: string, result: T) =>
    async (id: string, given?: unknown) => {
      steps.push([name, id, ...(given === undefined ? [] : [JSON.stringify(given)])].join(' '));
      if (refuses) throw new Error('refused');
      return result;
    };
  return new LostNodes({
    ...{ nodeLoss: { afterMs: 20_000, restarts }, away, store },
    runtime: { observe: async () => traces },
    machines: {
      unreachable: step('unreachable', true),
      end: step('end', undefined),
      command: step('command', undefined as never),
      retire: step('retire', undefined),
    },
    replicas: { isMine: (id) => id !== 'sb_other' },
    log: { info() {}, warn() {}, error() {} },
  });
}

/** Looks so many times, 5 s apart, and waits for what each begins. */
async function look(nodes: LostNodes, times = 1): Promise<void> {
  for (let turn = 0; turn < times; turn++) {
    await nodes.turn();
    for (let pause = 0; pause < 20; pause++) await Promise.resolve();
  }
}

const machine = (id: string, runningGeneration: number | null, unreachable = false): Observed => ({
  ...{ id, runningGeneration, hasDisk: true, hasArchive: false },
  ...(unreachable ? { unreachable } : {}),
});

it('puts a sandbox in error after 20 s without an answer, once', async () => {
  traces = [machine('sb_1', 3, true), machine('sb_2', 3), machine('sb_other', 3, true)];
  const nodes = open();
  await look(nodes, 4);
  expect(steps).toEqual([]);
  await look(nodes, 3);
  expect(steps).toEqual(['unreachable sb_1 3']);
});

it('counts no look at which all nodes are away, and none of its machines as seen again', async () => {
  const cutOff = { ...machine('sb_1', 3, true), allUnreachable: true } as const;
  const nodes = open();
  traces = [cutOff];
  await look(nodes, 20);
  expect(steps).toEqual([]);
  traces = [machine('sb_1', 3, true)];
  await look(nodes, 4);
  expect(steps).toEqual([]);
  await look(nodes, 2);
  expect(steps).toEqual(['unreachable sb_1 3']);
});

it('retires sandboxes of the warm pool at the first look, and none with an owner or of another machine', async () => {
  for (const id of ['sb_1', 'sb_2', 'sb_other']) await store.insert(poolRecord({ id, runGeneration: 3 }));
  await store.insert(sandboxRecord({ id: 'sb_3', runGeneration: 3 }));
  const ids = ['sb_1', 'sb_3', 'sb_other'];
  traces = [machine('sb_2', 2, true), ...ids.map((id) => machine(id, 3, true))];
  await look(open());
  expect(steps).toEqual(['retire sb_1']);
});

it('counts anew when the node has answered in between, and for another machine', async () => {
  const nodes = open();
  for (const trace of [machine('sb_1', 3), machine('sb_1', 4, true)]) {
    traces = [machine('sb_1', 3, true)];
    await look(nodes, 4);
    traces = [trace];
    await look(nodes);
  }
  expect(steps).toEqual([]);
});

it('ends the machine of a sandbox in error once its node is back, and not before', async () => {
  await store.insert(sandboxRecord({ id: 'sb_1', ...lost }));
  traces = [machine('sb_1', 3, true)];
  const nodes = open(true);
  await look(nodes, 2);
  expect(steps).toEqual([]);
  traces = [machine('sb_1', 3)];
  await look(nodes);
  expect(steps).toEqual(['end sb_1']);
});

it('leaves a sandbox in error whose machine has ended, or starts it again', async () => {
  await store.insert(sandboxRecord({ id: 'sb_1', ...lost }));
  traces = [machine('sb_1', null)];
  await look(open());
  expect(steps).toEqual([]);
  await look(open(true));
  expect(steps).toEqual(['command sb_1 {"type":"start"}']);
});

it('deletes a sandbox whose machine has ended and that ends with it', async () => {
  await store.insert(sandboxRecord({ id: 'sb_1', ...lost, ephemeral: true }));
  await look(open(true));
  expect(steps).toEqual(['command sb_1 {"type":"delete"}']);
});

it('leaves alone what is in error for another reason, and what is another replica’s', async () => {
  await store.insert(sandboxRecord({ id: 'sb_1', ...lost, stateReason: 'Its image is gone.' }));
  await store.insert(sandboxRecord({ id: 'sb_other', name: 'other', ...lost }));
  await look(open(true));
  expect(steps).toEqual([]);
});

it('tries a start that was refused again after a minute', async () => {
  await store.insert(sandboxRecord({ id: 'sb_1', ...lost }));
  refuses = true;
  const nodes = open(true);
  await look(nodes, 12);
  expect(steps).toHaveLength(1);
  await look(nodes);
  expect(steps).toHaveLength(2);
});

it('knows for a minute the machines whose nodes were away', () => {
  away.look([machine('sb_1', 3, true)]);
  for (let turn = 0; turn < 12; turn++) away.look([]);
  expect([away.has('sb_1', 3), away.has('sb_1', 4)]).toEqual([true, false]);
  away.look([]);
  expect(away.has('sb_1', 3)).toBe(false);
});
