/** The plain numbers that metrics are made of: bounded, cheap, and right at their edges. */
import { describe, expect, it } from 'vitest';
import { KeyedQueue } from '../../../src/concurrency/keyed-queue.ts';
import { DurationTally, LastTurn } from '../../../src/control/base/tallies.ts';
import { Rates } from '../../../src/control/callers/rates.ts';
import { AnswerTally, AskedFigure, CallTally } from '../../../src/control/metrics.ts';
import { Shares } from '../../../src/fairness/shares.ts';

describe('durations', () => {
  it('count up to each bound, the bound itself included, and longer ones in the total alone', () => {
    const tally = new DurationTally([0.1, 1]);
    for (const ms of [0, 100, 101, 1_000, 5_000]) tally.add(ms);
    expect([tally.upTo(), tally.count, tally.sumSeconds]).toEqual([[2, 4], 5, 6.201]);
  });
});

describe('calls', () => {
  it('are counted by action and outcome', () => {
    const calls = new CallTally();
    calls.note('a', 'ok', 3);
    calls.note('a', 'ok', 3);
    calls.note('a', 'timeout', 3);
    expect([...(calls.byAction.get('a')?.outcomes ?? [])]).toEqual([
      ['ok', 2],
      ['timeout', 1],
    ]);
    expect(calls.byAction.get('a')?.durations.count).toBe(3);
  });

  it('of more than 512 names are left out', () => {
    const calls = new CallTally();
    for (let name = 0; name < 600; name++) calls.note(`name ${name}`, 'ok', 1);
    calls.note('name 1', 'ok', 1);
    expect(calls.byAction.size).toBe(512);
    expect(calls.byAction.get('name 1')?.durations.count).toBe(2);
  });
});

it('A status that HTTP does not know counts as a fault of the server', () => {
  const answers = new AnswerTally();
  for (const status of [200, 204, 404, 101, 999, 0]) answers.note(status);
  expect([...answers.byClass]).toEqual([
    ['1xx', 1],
    ['2xx', 2],
    ['3xx', 0],
    ['4xx', 1],
    ['5xx', 2],
  ]);
});

describe('a figure that has to be asked for', () => {
  it('is asked for by one at a time, and kept', async () => {
    let asked = 0;
    const figure = new AskedFigure(60_000, async () => ++asked);
    expect(await Promise.all([figure.read(), figure.read()])).toEqual([1, 1]);
    expect(await figure.read()).toBe(1);
  });

  it('is null when the answer fails or is late, and comes at a later look', async () => {
    let answer: Promise<number> = Promise.reject(new Error('away'));
    const figure = new AskedFigure(60_000, () => answer);
    expect(await figure.read()).toBeNull();
    const late = Promise.withResolvers<number>();
    answer = late.promise;
    expect(await figure.read()).toBeNull();
    late.resolve(5);
    await expect.poll(() => figure.read()).toBe(5);
  });
});

it('A turn that fails is no finished one', async () => {
  const turn = new LastTurn();
  expect(turn.last).toBeNull();
  await expect(turn.measure(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(turn.last).toBeNull();
  expect(await turn.measure(async () => 'done')).toBe('done');
  expect(turn.last).toMatchObject({ durationMs: expect.any(Number), ageMs: expect.any(Number) });
});

it('Shares and rates count those that they refuse', () => {
  const shares = new Shares({ total: 2, perOwner: 1, what: 'are taken' });
  const release = shares.take('a');
  expect(() => shares.take('a')).toThrow();
  shares.take('b');
  expect(() => shares.take('c')).toThrow();
  release();
  shares.take('c');
  expect([shares.total, shares.refused]).toEqual([2, 2]);
  const rates = new Rates({ perSecond: 1, burst: 1 }, { now: () => 0 });
  rates.count({ keyId: 'key' });
  expect(() => rates.count({ keyId: 'key' })).toThrow();
  expect(rates.refused).toBe(1);
});

it('A queue knows what runs, what waits, and the longest wait', async () => {
  const queue = new KeyedQueue({ preempted: () => new Error('preempted') });
  expect(queue.load()).toEqual({ running: 0, waiting: 0, longestWaitMs: 0 });
  const gate = Promise.withResolvers<void>();
  const work = ['a', 'a', 'a', 'b'].map((key) => queue.run(key, () => gate.promise));
  await expect.poll(() => queue.load().longestWaitMs).toBeGreaterThan(0);
  expect(queue.load()).toMatchObject({ running: 2, waiting: 2 });
  gate.resolve();
  await Promise.all(work);
  expect(queue.load()).toEqual({ running: 0, waiting: 0, longestWaitMs: 0 });
});
