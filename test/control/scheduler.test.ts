import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import type { CommandOptions, Machines } from '../../src/control/lifecycle/machines.ts';
import { Scheduler, type SchedulerDependencies } from '../../src/control/lifecycle/scheduler.ts';
import type { Log, Schedulable, SessionsOverview, TerminalsOverview } from '../../src/control/ports/index.ts';
import { Activity } from '../../src/control/turns/activity.ts';
import { SandhavenError } from '../../src/model/errors.ts';
import type { Sandbox } from '../../src/model/sandbox.ts';
import { createAlone } from '../../src/store/rows/alone.ts';

const MINUTE = 60_000;
const id = 'sb_0123456789abcdef';
const quiet: Log = { info() {}, warn() {}, error() {} };

let now = 0;
let sandbox: Schedulable;
let stops: number[];
/** Commands with the reasons that they came with. */
let commands: [type: string, reason: string | null][];
let sessions: () => Omit<SessionsOverview, 'sessions'>;
let terminals: () => Omit<TerminalsOverview, 'terminals'>;
const listTerminals = async () => ({ terminals: [], ...terminals() });
let runs: boolean;
/** Of an engine that cannot freeze. */
const sleep = { begin: () => Promise.reject(new Error('no sleep')), dueAt: () => null, since: () => null };
const listDetached = async () => ({ processes: [], busy: runs, idleMs: null });
let asked: number;
let activity: Activity;
let parts: SchedulerDependencies;
let scheduler: Scheduler;

let archives: boolean;

beforeEach(() => {
  now = 1_000 * MINUTE;
  stops = [];
  commands = [];
  archives = true;
  asked = 0;
  sessions = () => ({ busy: false, idleMs: null });
  terminals = () => ({ busy: false, idleMs: null });
  runs = false;
  sandbox = {
    id,
    ownerId: 'user_alice',
    state: 'started',
    operation: null,
    autoStopMinutes: 15,
    autoArchiveMinutes: 10_080,
    autoDeleteMinutes: -1,
    deadline: null,
    sleep: null,
    lastActivityAt: now,
    stoppedAt: null,
  };
  const clock = { now: () => now };
  activity = new Activity(clock, { touch: async () => {} });
  parts = {
    sleep,
    replicas: createAlone(),
    canArchive: () => archives,
    store: { schedulable: async () => [sandbox] },
    machines: {
      command: async (_: string, { type }: { type: string }, { reason }: CommandOptions) => {
        stops.push(now);
        commands.push([type, reason ?? null]);
      },
      pausedReason,
    } as unknown as Machines,
    agent: {
      async listSessions() {
        asked++;
        return { sessions: [], ...sessions() };
      },
      listTerminals,
      listDetached,
    },
    activity,
    unfinished: { turn: async () => {} },
    clock,
    log: quiet,
    intervalMs: 1,
  };
  scheduler = new Scheduler(parts);
});

/** Null unless a test pauses its sandbox. */
let paused: string | null = null;
const pausedReason = () => paused;

async function pass(minutes: number): Promise<number> {
  now += minutes * MINUTE;
  await scheduler.turn();
  return stops.length;
}

it('[WIRE-AUTO-07] a sandbox in whose sessions a command runs is not stopped', async () => {
  sessions = () => ({ busy: true, idleMs: null });
  for (let hour = 0; hour < 3; hour++) expect(await pass(60)).toBe(0);
});

it('[WIRE-AUTO-07] its time begins when the last of them has ended', async () => {
  sessions = () => ({ busy: true, idleMs: null });
  expect(await pass(20)).toBe(0);
  const end = now + 5 * MINUTE;
  sessions = () => ({ busy: false, idleMs: now - end });
  expect(await pass(15)).toBe(0);
  expect(await pass(4)).toBe(0);
  expect(await pass(1)).toBe(1);
});

it('[WIRE-AUTO-07] a program in the foreground of a terminal counts, as a command of a session does', async () => {
  terminals = () => ({ busy: true, idleMs: null });
  expect(await pass(60)).toBe(0);
  const end = now + 5 * MINUTE;
  terminals = () => ({ busy: false, idleMs: now - end });
  expect(await pass(19)).toBe(0);
  expect(await pass(1)).toBe(1);
});

it('[WIRE-AUTO-07] a process that outlives its caller counts while it runs', async () => {
  runs = true;
  expect(await pass(60)).toBe(0);
  runs = false;
  expect(await pass(14)).toBe(0);
  expect(await pass(1)).toBe(1);
});

it('an agent that has sessions and no terminals is asked for both, and counts by what it says', async () => {
  terminals = () => {
    throw new SandhavenError('failed_precondition', 'an earlier version');
  };
  sessions = () => ({ busy: true, idleMs: null });
  expect(await pass(15)).toBe(0);
  sessions = () => ({ busy: false, idleMs: null });
  expect(await pass(15)).toBe(1);
});

it('a sandbox without sessions is stopped in time, and asked only then', async () => {
  expect(await pass(14)).toBe(0);
  expect(asked).toBe(0);
  expect(await pass(1)).toBe(1);
  expect(asked).toBe(1);
});

it('an agent that does not answer holds no stop up', async () => {
  sessions = () => {
    throw new SandhavenError('unavailable', 'no answer');
  };
  expect(await pass(15)).toBe(1);
});

it('an agent that speaks of other times than its own moves nothing', async () => {
  sessions = () => ({ busy: false, idleMs: 8.64e15 });
  expect(await pass(15)).toBe(1);
});

it('nothing is archived where nothing can be, and a delete still comes', async () => {
  archives = false;
  sandbox = { ...sandbox, state: 'stopped', stoppedAt: now, autoArchiveMinutes: 5 };
  expect(await pass(60)).toBe(0);
  sandbox = { ...sandbox, autoDeleteMinutes: 120 };
  expect(await pass(59)).toBe(0);
  expect(await pass(1)).toBe(1);
});

it('begins no more archives of one owner than go on at once, so that the others can still be started', async () => {
  const begun: string[] = [];
  const ended: (() => void)[] = [];
  const clock = { now: () => now };
  const due = (owner: string, count: number): Schedulable[] =>
    Array.from({ length: count }, (_, at) => ({
      ...{ ...sandbox, id: `${owner} ${at}`, ownerId: owner, state: 'stopped' as const },
      ...{ autoArchiveMinutes: 1, stoppedAt: now - 2 * MINUTE },
    }));
  const rows = [...due('ada', 5), ...due('bob', 1)];
  const busy = new Scheduler({
    sleep,
    ...{ replicas: createAlone(), canArchive: () => true, clock, log: quiet, intervalMs: 1 },
    store: { schedulable: async () => rows },
    machines: {
      pausedReason,
      command: (of: string) => {
        begun.push(of);
        return new Promise<void>((resolve) => ended.push(resolve));
      },
    } as unknown as Machines,
    agent: { listSessions: async () => ({ sessions: [], ...sessions() }), listTerminals, listDetached },
    activity: new Activity(clock, { touch: async () => {} }),
    unfinished: { turn: async () => {} },
  });
  const turns = [busy.turn()];
  await expect.poll(() => begun).toEqual(['ada 0', 'ada 1', 'bob 0']);
  ended[0]?.();
  await expect
    .poll(() => {
      turns.push(busy.turn());
      return begun;
    })
    .toEqual(['ada 0', 'ada 1', 'bob 0', 'ada 0']);
  for (const end of ended) end();
  await Promise.all(turns);
});

it('stops, among replicas, what was due at four looks in a row, and counts turns that waited together once', async () => {
  const clock = { now: () => now };
  const stopped: string[] = [];
  const read: PromiseWithResolvers<Schedulable[]>[] = [];
  const one = new Scheduler({
    sleep,
    ...{
      replicas: { ...createAlone(), shared: true },
      canArchive: () => true,
      clock,
      log: quiet,
      intervalMs: 1,
    },
    store: {
      schedulable: () => {
        const next = Promise.withResolvers<Schedulable[]>();
        read.push(next);
        return next.promise;
      },
    },
    machines: { command: async (of: string) => void stopped.push(of), pausedReason } as unknown as Machines,
    agent: { listSessions: async () => ({ sessions: [], ...sessions() }), listTerminals, listDetached },
    activity: new Activity(clock, { touch: async () => {} }),
    unfinished: { turn: async () => {} },
  });
  const turn = async (answer: Promise<Schedulable[]> = Promise.resolve([sandbox])) => {
    const turned = one.turn();
    await expect.poll(() => read.length).toBeGreaterThan(0);
    read.shift()?.resolve(answer);
    await turned;
  };
  now += 15 * MINUTE;
  const waiting = Array.from({ length: 3 }, () => one.turn());
  await turn();
  await Promise.all(waiting);
  for (let look = 2; look <= 3; look++) await turn();
  expect(stopped).toEqual([]);
  // A look that fails starts the count anew.
  await turn(Promise.reject(new Error('away')));
  for (let look = 1; look <= 3; look++) await turn();
  expect(stopped).toEqual([]);
  await turn();
  expect(stopped).toEqual([id]);
});

it('counts settled sandboxes by their state at each look, and those that are paused', async () => {
  expect([scheduler.census, scheduler.lastTurn]).toEqual([null, null]);
  await pass(0);
  expect(scheduler.census).toEqual({ byState: new Map([['started', 1]]), paused: 0 });
  expect(scheduler.lastTurn?.durationMs).toBeGreaterThanOrEqual(0);
  paused = 'The disk is full.';
  onTestFinished(() => {
    paused = null;
  });
  await pass(0);
  expect(scheduler.census?.paused).toBe(1);
});

it('a deadline stops a sandbox whatever it does, without asking what runs inside, and names the reason', async () => {
  runs = true;
  activity.begin(id);
  sandbox = { ...sandbox, autoStopMinutes: 0, deadline: { at: now + 30_000, action: 'stop' } };
  now += 29_999;
  expect(await pass(0)).toBe(0);
  now += 1;
  expect(await pass(0)).toBe(1);
  expect(commands).toEqual([['stop', 'Stopped at its deadline.']]);
  expect(asked).toBe(0);
});

it.each(['started', 'stopped', 'archived', 'error'] as const)(
  'a deadline deletes a sandbox that is %s',
  async (state) => {
    sandbox = { ...sandbox, state, deadline: { at: now + MINUTE, action: 'delete' } };
    expect(await pass(0)).toBe(0);
    expect(await pass(1)).toBe(1);
    expect(commands).toEqual([['delete', 'Deleted at its deadline.']]);
  },
);

it('a deadline that passes before the next turn is acted on when it passes', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const wait = async (ms: number) => {
    now += ms;
    await vi.advanceTimersByTimeAsync(ms);
    return stops.length;
  };
  const often = new Scheduler({ ...parts, intervalMs: 5_000 });
  sandbox = { ...sandbox, deadline: { at: now + 7_300, action: 'stop' } };
  often.begin();
  expect(await wait(5_000)).toBe(0);
  expect(await wait(2_299)).toBe(0);
  expect(await wait(1)).toBe(1);
  await often.close();
});

it('a deadline that stops leaves a sandbox alone that does not run', async () => {
  sandbox = { ...sandbox, state: 'stopped', stoppedAt: now, deadline: { at: now, action: 'stop' } };
  expect(await pass(1)).toBe(0);
});

it('an idle sandbox is stopped before its deadline, for its idleness', async () => {
  sandbox = { ...sandbox, deadline: { at: now + 20 * MINUTE, action: 'delete' } };
  expect(await pass(15)).toBe(1);
  expect(commands).toEqual([['stop', 'Stopped automatically after auto_stop_minutes without activity.']]);
});

it('a deadline that was moved until its turn came is not acted on', async () => {
  sandbox = { ...sandbox, deadline: { at: now, action: 'stop' } };
  const wanted: (boolean | undefined)[] = [];
  const clock = { now: () => now };
  const later = new Scheduler({
    sleep,
    ...{ replicas: createAlone(), canArchive: () => true, clock, log: quiet, intervalMs: 1 },
    store: { schedulable: async () => [sandbox] },
    machines: {
      pausedReason,
      command: async (_: string, __: unknown, { stillWanted }: CommandOptions) => {
        wanted.push(stillWanted?.(sandbox as Sandbox));
        wanted.push(stillWanted?.({ ...sandbox, deadline: { at: now + 1, action: 'stop' } } as Sandbox));
        wanted.push(stillWanted?.({ ...sandbox, deadline: null } as Sandbox));
      },
    } as unknown as Machines,
    agent: { listSessions: async () => ({ sessions: [], ...sessions() }), listTerminals, listDetached },
    activity,
    unfinished: { turn: async () => {} },
  });
  await later.turn();
  expect(wanted).toEqual([true, false, false]);
});

it('among replicas a deadline waits for no further look: no use counts against it', async () => {
  const clock = { now: () => now };
  const replicas = { ...createAlone(), shared: true };
  const acted: string[] = [];
  const one = new Scheduler({
    sleep,
    ...{ replicas, canArchive: () => true, clock, log: quiet, intervalMs: 1 },
    store: { schedulable: async () => [{ ...sandbox, deadline: { at: now, action: 'delete' } }] },
    machines: { command: async (of: string) => void acted.push(of), pausedReason } as unknown as Machines,
    agent: { listSessions: async () => ({ sessions: [], ...sessions() }), listTerminals, listDetached },
    activity,
    unfinished: { turn: async () => {} },
  });
  await one.turn();
  expect(acted).toEqual([id]);
});
