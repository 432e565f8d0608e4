/** Deadlines of sandboxes over a whole control layer: set, moved, passed, over restarts, kills and lost nodes. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Unfinished } from '../../../src/concurrency/unfinished.ts';
import type { CreateRequest } from '../../../src/control/lifecycle/creation.ts';
import { Machines, type MachinesDependencies } from '../../../src/control/lifecycle/machines.ts';
import { createOperationQueue } from '../../../src/control/turns/operation-queue.ts';
import { OtherReplicas } from '../../../src/control/turns/other-replicas.ts';
import { LOST_REASON } from '../../../src/model/lost-node.ts';
import { createAlone } from '../../../src/store/rows/alone.ts';
import { alice, sandboxRecord } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import { type Control, Installation } from '../network/service-of-networks.ts';

const request: CreateRequest = {
  ...{ language: 'python', envVars: {}, labels: {}, autoStopMinutes: 0, ephemeral: false },
  ...{ cpu: 2, memory: 4, disk: 20, gpu: 0 },
};
const SECOND = 1_000;
const log = { info() {}, warn() {}, error() {} };

let now: number;
let installation: Installation;
let service: Control;

const open = async () => {
  service = installation.open({ clock: { now: () => now } });
  await service.reconcile();
};

beforeEach(async () => {
  now = 1_900_000_000_000;
  installation = new Installation();
  await installation.enrol();
  await open();
});

afterEach(() => service.close());

const create = (more: Partial<CreateRequest> = {}) =>
  service.services.sandboxes.create(alice, { ...request, ...more });
const set = (id: string, seconds: number, action?: 'stop' | 'delete') =>
  service.services.sandboxes.setDeadline(alice, id, seconds, action);
const rowOf = (id: string) => installation.store.sandboxes.get(id);

async function pass(seconds: number): Promise<void> {
  now += seconds * SECOND;
  await service.scheduler.turn();
}

describe('a deadline', () => {
  it('is counted from the call, and stops by default', async () => {
    const { id, deadline } = await create();
    expect(deadline).toBeNull();
    expect(await set(id, 60)).toMatchObject({ deadline: { at: 1_900_000_060_000, action: 'stop' } });
  });

  it('is moved later and earlier, with the action that it had unless another is given, and removed', async () => {
    const { id } = await create();
    await set(id, 60, 'delete');
    expect((await set(id, 600)).deadline).toEqual({ at: 1_900_000_600_000, action: 'delete' });
    expect((await set(id, 30, 'stop')).deadline).toEqual({ at: 1_900_000_030_000, action: 'stop' });
    expect((await set(id, 0)).deadline).toBeNull();
    await pass(3_600);
    expect(await rowOf(id)).toMatchObject({ state: 'started', deadline: null });
  });

  it('that stops tells the reason, is gone then, and lets the sandbox start again without one', async () => {
    const { id } = await create();
    await set(id, 60);
    await pass(59);
    expect(await rowOf(id)).toMatchObject({ state: 'started' });
    await pass(1);
    const stopped = { state: 'stopped', stateReason: 'Stopped at its deadline.', deadline: null };
    expect(await rowOf(id)).toMatchObject(stopped);
    await service.services.sandboxes.start(alice, id);
    await pass(3_600);
    expect(await rowOf(id)).toMatchObject({ state: 'started', stateReason: null, deadline: null });
  });

  it('that stops an ephemeral sandbox deletes it', async () => {
    const { id } = await create({ ephemeral: true });
    await set(id, 60, 'stop');
    await pass(60);
    expect(await rowOf(id)).toBeNull();
  });

  it('that deletes counts on in a stopped and an archived sandbox', async () => {
    const [stopped, archived] = [await create(), await create()];
    for (const { id } of [stopped, archived]) {
      await set(id, 60, 'delete');
      await service.services.sandboxes.stop(alice, id);
    }
    await service.services.sandboxes.archive(alice, archived.id);
    await pass(59);
    expect(await rowOf(stopped.id)).toMatchObject({ state: 'stopped' });
    expect(await rowOf(archived.id)).toMatchObject({ state: 'archived' });
    await pass(1);
    expect([await rowOf(stopped.id), await rowOf(archived.id)]).toEqual([null, null]);
    expect(installation.host.sandboxes.size).toBe(0);
  });

  it('that stops outlives a stop and a start before its time', async () => {
    const { id } = await create();
    await set(id, 60);
    await service.services.sandboxes.stop(alice, id);
    await service.services.sandboxes.start(alice, id);
    await pass(60);
    expect(await rowOf(id)).toMatchObject({ state: 'stopped', stateReason: 'Stopped at its deadline.' });
  });

  it('that passed while the sandbox was stopped does not stop its next run', async () => {
    const { id } = await create();
    await set(id, 60);
    await service.services.sandboxes.stop(alice, id);
    await pass(61);
    await service.services.sandboxes.start(alice, id);
    await pass(61);
    expect(await rowOf(id)).toMatchObject({ state: 'started', deadline: null });
  });

  it('that passed while the service was down is acted on after its next start', async () => {
    const [one, other] = [await create(), await create()];
    await set(one.id, 60, 'stop');
    await set(other.id, 60, 'delete');
    await service.close();
    now += 3_600 * SECOND;
    await open();
    expect(await rowOf(one.id)).toMatchObject({ state: 'started' });
    await pass(0);
    expect(await rowOf(one.id)).toMatchObject({ state: 'stopped', stateReason: 'Stopped at its deadline.' });
    expect(await rowOf(other.id)).toBeNull();
  });

  it.each(['stop', 'delete'] as const)('that a kill breaks off in its %s is finished', async (action) => {
    const { id, generation } = await create();
    await set(id, 60, action);
    now += 60 * SECOND;
    const begun = {
      stop: { operation: 'stopping', stateReason: 'Stopped at its deadline.' },
      delete: { operation: 'deleting', stateReason: 'Deleted at its deadline.' },
    } as const;
    await installation.store.sandboxes.update(id, generation, {
      ...begun[action],
      generation: generation + 1,
    });
    await open();
    const settled = action === 'delete' ? null : { state: 'stopped', deadline: null, operation: null };
    await expect.poll(() => rowOf(id)).toEqual(settled && expect.objectContaining(settled));
  });

  it.each([
    ['a caller starts removes one that has passed', {}, null],
    [
      'starts by itself, after its node was lost, keeps it: the scheduler stops it then',
      { stillWanted: () => true },
      { at: 500, action: 'stop' },
    ],
  ] as const)('of a sandbox that %s', async (_which, options, deadline) => {
    const store = memoryStore().sandboxes;
    const lost = { state: 'error', stateReason: LOST_REASON, runGeneration: null } as const;
    await store.insert(sandboxRecord({ id: 'sb_1', ...lost, deadline: { at: 500, action: 'stop' } }));
    const replicas = createAlone();
    const machines = new Machines({
      ...{ store, log, replicas, nodeLoss: null },
      runtime: {
        ...{ inspect: async () => null, assign() {}, stop: async () => {} },
        capacity: async () => ({ freeMemoryBytes: 1e12, freeDiskBytes: 1e12, freeSlots: 9, freeGpus: 0 }),
      },
      networks: { put: () => Promise.reject(new Error('the start ends here')) },
      quotas: { allowance: async () => undefined },
      queue: createOperationQueue(),
      others: new OtherReplicas(replicas, store),
      unfinished: new Unfinished(() => {}),
      activity: {},
      clock: { now: () => 1_000 },
    } as unknown as MachinesDependencies);
    await expect(machines.command('sb_1', { type: 'start' }, options)).rejects.toThrow('ends here');
    expect(await store.get('sb_1')).toMatchObject({ state: 'error', deadline });
  });
});
