/** Watches of machines: only the engine's word that a machine is gone ends one, never a broken connection. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Watches } from '../../../src/control/lifecycle/watches.ts';
import type { MachineSleep, Observed } from '../../../src/control/ports/index.ts';

interface Connection {
  id: string;
  signal: AbortSignal;
  end(): void;
  breakOff(error: Error): void;
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const running: Observed = { id: 'sb_1', runningGeneration: 3, hasDisk: true, hasArchive: false };
const ended: Observed = { ...running, runningGeneration: null };

let connections: Connection[];
let inspect: () => Promise<Observed | null>;
let errors: unknown[];
let deaths: string[];
let watches: Watches;

beforeEach(() => {
  vi.useFakeTimers();
  connections = [];
  inspect = async () => null;
  errors = [];
  deaths = [];
  const watch = (id: string, signal: AbortSignal) =>
    new Promise<void>((end, breakOff) => void connections.push({ id, signal, end, breakOff }));
  const log = { info() {}, warn() {}, error: (_: string, context?: object) => void errors.push(context) };
  watches = new Watches({ watch }, { inspect: () => inspect() }, log);
});

afterEach(() => {
  vi.useRealTimers();
});

function begin(id = 'sb_1', cause = 'gone'): void {
  watches.begin(id, async () => void deaths.push(cause));
}

it('connects to no machine that sleeps, and to it once it is awake', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const watch = (id: string, signal: AbortSignal) =>
    new Promise<void>((end, breakOff) => void connections.push({ id, signal, end, breakOff }));
  const sleep = { since: () => 1_000, awake: () => promise } as unknown as MachineSleep;
  const log = { info() {}, warn() {}, error() {} };
  watches = new Watches({ watch }, { inspect: async () => null, sleep }, log);
  begin();
  await pass(3_600_000);
  expect(connections).toEqual([]);
  resolve();
  await pass(0);
  expect(connections.map(({ id }) => id)).toEqual(['sb_1']);
});

describe('a machine', () => {
  it.each([
    ['without a trace', null],
    ['whose PID 1 has ended', ended],
  ])('%s is reported dead once its connection ends, and once only', async (_, seen) => {
    inspect = async () => seen;
    begin();
    await pass(60_000);
    expect(deaths).toEqual([]);
    connections[0]?.end();
    await pass(60_000);
    expect(deaths).toEqual(['gone']);
    expect(connections.map(({ id }) => id)).toEqual(['sb_1']);
  });

  it.each(['end', 'breakOff'] as const)(
    'is connected to again after a second while it runs: %s',
    async (how) => {
      inspect = async () => running;
      begin();
      connections[0]?.[how](new Error('broken'));
      await pass(999);
      expect(connections).toHaveLength(1);
      await pass(1);
      expect(connections).toHaveLength(2);
      expect(deaths).toEqual([]);
      inspect = async () => null;
      connections[1]?.[how](new Error('broken'));
      await pass(0);
      expect(deaths).toEqual(['gone']);
    },
  );

  it('is not reported dead by an engine that does not answer', async () => {
    inspect = async () => {
      throw new Error('the engine is away');
    };
    begin();
    connections[0]?.end();
    await pass(1_000);
    expect(deaths).toEqual([]);
    expect(connections).toHaveLength(2);
  });
});

describe('a watch that has ended', () => {
  it('reports nothing when it was connected; it closes its connection and does not ask the engine', async () => {
    let asked = 0;
    inspect = async () => {
      asked++;
      return null;
    };
    begin();
    watches.end('sb_1');
    expect(connections[0]?.signal.aborted).toBe(true);
    connections[0]?.end();
    await pass(60_000);
    expect(asked).toBe(0);
    expect(deaths).toEqual([]);
  });

  it('reports nothing when it was asking the engine', async () => {
    const { promise, resolve } = Promise.withResolvers<Observed | null>();
    inspect = () => promise;
    begin();
    connections[0]?.end();
    await pass(0);
    watches.end('sb_1');
    resolve(null);
    await pass(60_000);
    expect(deaths).toEqual([]);
  });

  it('reports nothing when it waited to connect again, and leaves no timer', async () => {
    inspect = async () => running;
    begin();
    connections[0]?.end();
    await pass(500);
    watches.end('sb_1');
    await pass(0);
    expect(vi.getTimerCount()).toBe(0);
    await pass(60_000);
    expect(connections).toHaveLength(1);
    expect(deaths).toEqual([]);
  });
});

it('a second watch of a sandbox takes the place of the first', async () => {
  begin('sb_1', 'first');
  begin('sb_1', 'second');
  expect(connections.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  for (const { end } of connections) end();
  await pass(0);
  expect(deaths).toEqual(['second']);
});

it('a watch ends alone or with all others', () => {
  for (const id of ['sb_1', 'sb_2', 'sb_3']) begin(id);
  const watched = () => ['sb_1', 'sb_2', 'sb_3'].filter((id) => watches.has(id));
  watches.end('sb_2');
  expect(watched()).toEqual(['sb_1', 'sb_3']);
  watches.endAll();
  expect(watched()).toEqual([]);
  expect(connections.every(({ signal }) => signal.aborted)).toBe(true);
});

it('a report that fails is logged', async () => {
  watches.begin('sb_1', () => Promise.reject(new Error('broken')));
  connections[0]?.end();
  await pass(0);
  expect(errors).toMatchObject([{ sandbox: 'sb_1' }]);
});
