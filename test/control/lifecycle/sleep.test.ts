/** Sleep of sandboxes over a whole control layer, with an engine that freezes in memory. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CreateRequest } from '../../../src/control/lifecycle/creation.ts';
import type { MachineSleep } from '../../../src/control/ports/index.ts';
import { alice } from '../../store/fixtures.ts';
import { type Control, Installation } from '../network/service-of-networks.ts';

const request: CreateRequest = {
  ...{ language: 'python', envVars: {}, labels: {}, autoStopMinutes: 15, ephemeral: false },
  ...{ cpu: 2, memory: 4, disk: 20, gpu: 0 },
};
const SECOND = 1_000;
const START = 1_900_000_000_000;

let now: number;
let installation: Installation;
let service: Control;
let asleep: Map<string, { at: number; closes: boolean }>;
let asked: number;

const sleep: MachineSleep = {
  begin: async (id, at, { closesChannels = false } = {}) =>
    void asleep.set(id, { at, closes: closesChannels }),
  wake: async (id) => void asleep.delete(id),
  since: (id) => asleep.get(id)?.at ?? null,
  awake: async () => {},
  onChange: () => {},
};

const open = async (sleepAfterSeconds = 0) => {
  service = installation.open({ clock: { now: () => now }, sleepAfterSeconds });
  await service.reconcile();
};

beforeEach(async () => {
  now = START;
  asleep = new Map();
  asked = 0;
  installation = new Installation();
  installation.sleep = sleep;
  installation.idleMs = () => {
    asked += 1;
    return null;
  };
  await installation.enrol();
  await open();
});

afterEach(() => service.close());

const create = (more: Partial<CreateRequest> = {}) =>
  service.services.sandboxes.create(alice, { ...request, ...more });
const shown = (id: string) => service.services.sandboxes.get(alice, id);
const rowOf = (id: string) => installation.store.sandboxes.get(id);
const use = (id: string) => service.services.files.read(alice, id, { path: '/x' } as never).catch(() => null);

async function pass(seconds: number): Promise<void> {
  now += seconds * SECOND;
  await service.scheduler.turn();
}

describe('a pause', () => {
  it('puts a sandbox to sleep that stays started, ends open calls, and shows the time', async () => {
    const { id } = await create();
    now += SECOND;
    expect(await service.services.sleep.pause(alice, id)).toMatchObject({ since: START + SECOND });
    expect(asleep.get(id)).toEqual({ at: START + SECOND, closes: true });
    expect(await shown(id)).toMatchObject({ state: 'started', asleepSince: START + SECOND });
    expect(await service.services.sleep.resume(alice, id)).toMatchObject({ since: null });
    expect(await shown(id)).toMatchObject({ asleepSince: null, lastActivityAt: START + SECOND });
  });

  it.each(['pause', 'resume'] as const)(
    'or its end is refused for a sandbox that is stopped: %s',
    async (call) => {
      const { id } = await create();
      await service.services.sandboxes.stop(alice, id);
      await expect(service.services.sleep[call](alice, id)).rejects.toMatchObject({ code: 'invalid_state' });
      expect(asleep.size).toBe(0);
    },
  );

  it('is refused where the engine cannot freeze, like all of sleep but the start by a use', async () => {
    await service.close();
    installation.sleep = null;
    await open(60);
    const { id } = await create();
    const { sleep: sleeps, sandboxes } = service.services;
    const refused = { code: 'failed_precondition' };
    await expect(sleeps.pause(alice, id)).rejects.toMatchObject(refused);
    await expect(sleeps.resume(alice, id)).rejects.toMatchObject(refused);
    await expect(sleeps.set(alice, id, { afterSeconds: 5 })).rejects.toMatchObject(refused);
    await expect(sandboxes.setDeadline(alice, id, 5, 'sleep')).rejects.toMatchObject(refused);
    await sleeps.set(alice, id, { wakes: true });
    await pass(120);
    expect(await shown(id)).toMatchObject({ state: 'started', asleepSince: null });
  });
});

describe('a sandbox that nobody uses', () => {
  it('does not sleep by default', async () => {
    const { id } = await create();
    await pass(800);
    expect(await shown(id)).toMatchObject({ asleepSince: null });
  });

  it('sleeps after its own time, or after the operator’s', async () => {
    await service.close();
    await open(60);
    const [usual, own, never] = [await create(), await create(), await create()];
    await service.services.sleep.set(alice, own.id, { afterSeconds: 120 });
    await service.services.sleep.set(alice, never.id, { afterSeconds: 0 });
    await pass(59);
    expect([...asleep.keys()]).toEqual([]);
    await pass(1);
    expect(asleep.get(usual.id)).toEqual({ at: START + 60 * SECOND, closes: false });
    await pass(60);
    expect([...asleep.keys()]).toEqual([usual.id, own.id]);
  });

  it('is asked for work inside before, and not once it sleeps', async () => {
    const { id } = await create();
    await service.services.sleep.set(alice, id, { afterSeconds: 60 });
    installation.idleMs = () => {
      asked += 1;
      return 0;
    };
    await pass(60);
    expect([asked > 0, asleep.size]).toEqual([true, 0]);
    installation.idleMs = () => null;
    await pass(60);
    expect(asleep.size).toBe(1);
    asked = 0;
    await pass(60);
    expect(asked).toBe(0);
  });

  it('is stopped when its idle interval is over, though it sleeps', async () => {
    const { id } = await create();
    await service.services.sleep.set(alice, id, { afterSeconds: 60 });
    await pass(60);
    expect(asleep.size).toBe(1);
    asked = 0;
    await pass(14 * 60);
    expect(await rowOf(id)).toMatchObject({ state: 'stopped' });
    expect(asked).toBe(0);
  });

  it('keeps the settings that a change does not name', async () => {
    const { id } = await create();
    const { sleep: sleeps } = service.services;
    await sleeps.set(alice, id, { afterSeconds: 60 });
    expect((await sleeps.set(alice, id, { wakes: true })).sandbox.sleep).toEqual({
      afterSeconds: 60,
      wakes: true,
    });
    expect((await sleeps.set(alice, id, { afterSeconds: 5 })).sandbox.sleep).toEqual({
      afterSeconds: 5,
      wakes: true,
    });
    await expect(sleeps.set(alice, id, {})).rejects.toMatchObject({ code: 'invalid_argument' });
  });
});

describe('a deadline that puts to sleep', () => {
  it('does so whatever runs, ends open calls, and is gone then', async () => {
    const { id } = await create({ autoStopMinutes: 0 });
    await service.services.sandboxes.setDeadline(alice, id, 60, 'sleep');
    await pass(59);
    expect(asleep.size).toBe(0);
    await pass(1);
    expect(asleep.get(id)).toEqual({ at: START + 60 * SECOND, closes: true });
    expect(await rowOf(id)).toMatchObject({ state: 'started', deadline: null });
    await service.services.sleep.resume(alice, id);
    await pass(60);
    expect(asleep.size).toBe(0);
  });

  it('comes again after a kill between the sleep and its removal', async () => {
    const { id } = await create({ autoStopMinutes: 0 });
    await service.services.sandboxes.setDeadline(alice, id, 60, 'sleep');
    now += 60 * SECOND;
    await sleep.begin(id, now);
    await service.close();
    await open();
    await pass(0);
    expect(await rowOf(id)).toMatchObject({ state: 'started', deadline: null });
    expect(asleep.has(id)).toBe(true);
  });

  it('that passed while the sandbox was stopped does not count for its next run', async () => {
    const { id } = await create();
    await service.services.sandboxes.setDeadline(alice, id, 60, 'sleep');
    await service.services.sandboxes.stop(alice, id);
    await pass(61);
    await service.services.sandboxes.start(alice, id);
    await pass(1);
    expect(asleep.size).toBe(0);
    expect(await rowOf(id)).toMatchObject({ deadline: null });
  });
});

describe('a stopped sandbox', () => {
  it('is started by a use where its owner wants that', async () => {
    const { id } = await create();
    await service.services.sleep.set(alice, id, { wakes: true });
    await service.services.sandboxes.stop(alice, id);
    await Promise.all([use(id), use(id)]);
    expect(await rowOf(id)).toMatchObject({ state: 'started' });
  });

  it('is not started by one else, nor by a look at it', async () => {
    const { id } = await create();
    await service.services.sandboxes.stop(alice, id);
    await use(id);
    expect(await rowOf(id)).toMatchObject({ state: 'stopped' });
    await service.services.sleep.set(alice, id, { wakes: true });
    await shown(id);
    await service.services.sandboxes.list(alice, {}, { page: 1, pageSize: 10 });
    expect(await rowOf(id)).toMatchObject({ state: 'stopped' });
  });

  it('is started by a use when it is archived, too, and says why it cannot be', async () => {
    const { id } = await create();
    await service.services.sleep.set(alice, id, { wakes: true });
    await service.services.sandboxes.stop(alice, id);
    await service.services.sandboxes.archive(alice, id);
    await use(id);
    expect(await rowOf(id)).toMatchObject({ state: 'started' });
    await service.services.sandboxes.stop(alice, id);
    installation.point = async (label) => {
      if (label.includes('start')) throw new Error('no room');
    };
    await expect(service.services.files.read(alice, id, { path: '/x' } as never)).rejects.toThrow();
  });
});
