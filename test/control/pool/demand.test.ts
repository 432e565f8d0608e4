/** Demand for the warm pool: counted in steps of 5 s for ten minutes, here and at other replicas. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Demand } from '../../../src/control/pool/size.ts';

let now: number;
let told: [string, string][];
let hear: (text: string) => void;
let news: number;

beforeEach(() => {
  vi.useFakeTimers();
  now = 1_000_000_000;
  told = [];
  news = 0;
});

afterEach(() => {
  vi.useRealTimers();
});

function newDemand({ shared = true } = {}): Demand {
  const replicas = {
    shared,
    tell: (topic: string, text: string) => void told.push([topic, text]),
    onTold: (_topic: string, listener: (text: string) => void) => {
      hear = listener;
    },
  };
  return new Demand({ now: () => now }, replicas, () => void news++);
}

const recent = (demand: Demand, count: number) => demand.steps().slice(-count);

describe('demand', () => {
  it('is counted by the step in which it came', () => {
    const demand = newDemand();
    demand.note();
    demand.note();
    now += 10_000;
    demand.note();
    expect(recent(demand, 3)).toEqual([2, 0, 1]);
    now += 5_000;
    expect(recent(demand, 4)).toEqual([2, 0, 1, 0]);
  });

  it('is forgotten after ten minutes', () => {
    const demand = newDemand();
    demand.note();
    now += 595_000;
    expect(demand.steps()).toHaveLength(120);
    expect(demand.steps()[0]).toBe(1);
    now += 5_000;
    expect(demand.steps()).toEqual(Array(120).fill(0));
    now += 365 * 24 * 60 * 60_000;
    expect(demand.steps()).toHaveLength(120);
  });

  it('is kept when the clock is set back', () => {
    const demand = newDemand();
    demand.note();
    now -= 3_600_000;
    demand.note();
    expect(recent(demand, 1)).toEqual([2]);
  });

  it('of a burst goes to the other replicas in one message', async () => {
    const demand = newDemand();
    for (let wanted = 0; wanted < 5; wanted++) demand.note();
    await vi.advanceTimersByTimeAsync(100);
    demand.note();
    await vi.advanceTimersByTimeAsync(100);
    expect(told).toEqual([
      ['wanted', '5'],
      ['wanted', '1'],
    ]);
  });

  it('of one process alone is told to nobody', async () => {
    newDemand({ shared: false }).note();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(told).toEqual([]);
  });

  it('of other replicas counts, and is not told on', async () => {
    const demand = newDemand();
    hear('7');
    await vi.advanceTimersByTimeAsync(1_000);
    expect([recent(demand, 1), news, told]).toEqual([[7], 1, []]);
  });

  it('in a message that no replica sends counts as none, or as the most that one may count for', () => {
    const demand = newDemand();
    for (const text of ['', 'x', '-3', '1.5', 'Infinity']) hear(text);
    expect(recent(demand, 1)).toEqual([0]);
    hear('1000000000');
    expect(recent(demand, 1)).toEqual([10_000]);
  });
});
